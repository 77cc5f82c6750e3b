import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { firstRow, type Transaction } from '#lib/database';
import { type Actor, DroverError, newId } from '#lib/kernel';
import { leaveDeadLetter, reconsiderPrerequisites, TaskCommands } from '#lib/task-manager';
import { applyTransitions } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import {
  type ChangeState,
  legalChangeTransitions,
  type ReviewKind,
  type Verdict,
} from '../domain/change-state.js';
import {
  isApproved,
  type Return,
  stateAfterProof,
  stateAfterReturn,
} from '../domain/change-decisions.js';
import type { ChangeComment } from '../domain/review.js';
import { moveChange, type MoveColumn } from '../store/change-transition.sql.js';
import { lockChange, type LockedChange } from '../store/changes.sql.js';
import { approvalsOfChange, insertReview } from '../store/reviews.sql.js';
import { lockOtherAttempts, obstructChange, type OtherAttempt } from './attempts.sql.js';

/** Who moves a change of a workspace. */
export interface Mover {
  workspaceId: string;
  actor: Actor;
  /** The author of reviews, if it is not the actor: a person at a forge, as in github:ada. */
  author?: string;
}

/** A proof, a review or a conflict before it is stored. */
export interface NewReview {
  kind: ReviewKind;
  verdict: Verdict;
  commit?: string | null;
  body?: string;
  comments?: readonly ChangeComment[];
  exitCode?: number;
  durationMs?: number;
  /** The id of a review that was made at a forge, as in github:review:1. */
  externalId?: string;
}

/** What to do after the commit, if anything. */
export type AfterCommit = (() => void) | void;

/** The failure reason of a task whose change went back too often. */
export const REVISIONS_EXHAUSTED = 'revisions_exhausted';

/** The states of changes whose tasks have not ended. */
const OPEN: readonly ChangeState[] = ['WORKING', 'PROVING', 'IN_REVIEW', 'APPROVED'];

const WHY: Record<Return, string> = {
  red: 'Its acceptance failed',
  changes_requested: 'Changes were requested',
  conflict: 'It conflicts with its target',
};

/** Moves locked changes together with their tasks, in the transaction that holds the locks. */
@Injectable()
export class ChangeMoves {
  constructor(
    private readonly commands: TaskCommands,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {}

  /** After the commit: hosts, agents and the coordinator look for work. */
  wake(workspaceId: string): void {
    this.wakeUps.steps(workspaceId);
    this.wakeUps.claims(workspaceId, 1);
    this.wakeUps.coordinator();
  }

  /** @returns the id of the review */
  async note(
    tx: Transaction,
    { workspaceId, actor, author = authorOf(actor) }: Mover,
    change: Pick<LockedChange, 'task_id' | 'revision' | 'head_commit'>,
    review: NewReview,
  ): Promise<string> {
    const id = newId();
    const { kind, verdict, commit = change.head_commit, body = '', comments = [] } = review;
    const { exitCode = null, durationMs = null, externalId = null } = review;
    const about = [change.task_id, change.revision, kind, verdict, commit, author];
    const said = [body, JSON.stringify(comments), exitCode, durationMs, externalId];
    await tx.rows(insertReview, [workspaceId, id, ...about, ...said]);
    return id;
  }

  /** A green proof: people or agents review it, or nobody has to. */
  async prove(tx: Transaction, by: Mover, change: LockedChange): Promise<AfterCommit> {
    const message = 'Its acceptance succeeded';
    if (stateAfterProof(change.review) === 'APPROVED') {
      return this.approveOrClose(tx, by, change, { message });
    }
    const review_seconds = this.config.tasks.reviewTimeoutSeconds;
    const review_step = change.review === 'agent' || change.review === 'both' ? 'ask' : null;
    await this.move(tx, by, change, 'IN_REVIEW', { message, review_seconds, review_step });
  }

  /**
   * The approval of a person. The other attempts at the change are closed.
   *
   * @throws DroverError `illegal_transition` if one of them is approved, or can be on its target
   */
  async approve(tx: Transaction, by: Mover, change: LockedChange): Promise<AfterCommit> {
    const others = await this.otherAttempts(tx, by, change);
    const chosen = others.find(({ is_chosen }) => is_chosen);
    if (chosen) {
      const detail = `Another attempt was approved: ${chosen.task_id}.`;
      throw illegalChange(change.state, 'APPROVED', detail);
    }
    const unclear = others.find(({ may_have_landed }) => may_have_landed);
    if (unclear) throw illegalChange(change.state, 'APPROVED', whyUnclear(unclear));
    const approved_by = by.author ?? authorOf(by.actor);
    const message = 'Its change is approved';
    await this.move(tx, by, change, 'APPROVED', { approved_by, message });
    return this.closeAttempts(tx, by, others, change);
  }

  /**
   * An approval without a person. A change of which another attempt is approved is closed: somebody
   * has retried its task. While another one can be on its target, the change waits for a person.
   */
  async approveOrClose(
    tx: Transaction,
    by: Mover,
    change: LockedChange,
    values: { message: string; approved_by?: string },
  ): Promise<AfterCommit> {
    const others = await this.otherAttempts(tx, by, change);
    const chosen = others.find(({ is_chosen }) => is_chosen);
    if (chosen) return this.closeAttempts(tx, by, [change], chosen);
    const unclear = others.find(({ may_have_landed }) => may_have_landed);
    if (unclear) return this.waitForAttempt(tx, by, change, unclear);
    await this.move(tx, by, change, 'APPROVED', values);
    return this.closeAttempts(tx, by, others, change);
  }

  /**
   * Its commit is on the target: its task completes, unless it has ended. The other attempts at the
   * change are closed.
   *
   * @param remark a sentence about the commit, for the log
   */
  async merge(
    tx: Transaction,
    by: Mover,
    change: LockedChange,
    commit: string,
    remark?: string,
  ): Promise<AfterCommit> {
    const words = `Its change is merged as ${commit.slice(0, 12)}`;
    const message = remark === undefined ? words : `${words}. ${remark}`;
    const others = await this.otherAttempts(tx, by, change);
    await this.move(tx, by, change, 'MERGED', { merged_commit: commit, message });
    // Otherwise its task ended while a host merged it.
    if (change.state !== 'CLOSED') {
      const { workspaceId, actor } = by;
      const taskId = change.task_id;
      await applyTransitions(tx, [{ workspaceId, taskId, actor, to: 'COMPLETED', message }]);
    }
    return this.closeAttempts(tx, by, others, change);
  }

  /** The change is not on its target. An attempt with all approvals that waited for it goes on. */
  async resumeAttempts(tx: Transaction, by: Mover, change: LockedChange): Promise<AfterCommit> {
    const { workspaceId } = by;
    for (const { task_id: id, state } of await this.otherAttempts(tx, by, change)) {
      const other = state === 'IN_REVIEW' && (await firstRow(tx, lockChange, [workspaceId, id]));
      // The obstacle that whyUnclear makes ends with the id of the attempt.
      if (!other || !other.obstacle?.endsWith(change.task_id)) continue;
      const approvals = await tx.rows(approvalsOfChange, [workspaceId, id, other.revision]);
      const authors = approvals.map(({ author }) => author);
      const agent = authors.some((author) => author.startsWith('agent:'));
      const person = authors.some((author) => !author.startsWith('agent:'));
      if (!isApproved(other.review, { agent, person })) continue;
      const approved_by = authors.at(-1);
      return this.approveOrClose(tx, by, other, { message: 'Its change is approved', approved_by });
    }
  }

  private async waitForAttempt(
    tx: Transaction,
    by: Mover,
    change: LockedChange,
    unclear: OtherAttempt,
  ): Promise<void> {
    const obstacle = whyUnclear(unclear);
    if (change.state !== 'IN_REVIEW') {
      const review_seconds = this.config.tasks.reviewTimeoutSeconds;
      await this.move(tx, by, change, 'IN_REVIEW', { message: obstacle, review_seconds });
    }
    await tx.rows(obstructChange, [by.workspaceId, change.task_id, obstacle]);
  }

  private otherAttempts(
    tx: Transaction,
    { workspaceId }: Mover,
    { task_id: id, attempts_id: group }: LockedChange,
  ): Promise<OtherAttempt[]> {
    if (group === null) return Promise.resolve([]);
    return tx.rows(lockOtherAttempts, [workspaceId, group, id]);
  }

  /** Their tasks are cancelled, and hosts remove their branches. */
  private async closeAttempts(
    tx: Transaction,
    by: Mover,
    attempts: readonly Pick<LockedChange, 'task_id' | 'state'>[],
    chosen: Pick<LockedChange, 'task_id'>,
  ): Promise<AfterCommit> {
    const reason = `Another attempt was approved: ${chosen.task_id}`;
    // The tasks of failed changes have ended.
    for (const failed of attempts.filter(({ state }) => state === 'FAILED')) {
      await this.move(tx, by, failed, 'CLOSED', { reason: 'attempt_approved', message: reason });
    }
    const all = attempts.map(({ task_id }) => task_id);
    const { kind, id } = by.actor;
    const record = [kind, id, JSON.stringify({ reason }), ['failureFingerprint']];
    await tx.rows(leaveDeadLetter, [by.workspaceId, all, ...record]);
    const open = attempts.filter(({ state }) => OPEN.includes(state));
    if (open.length === 0) return;
    const ids = open.map(({ task_id }) => task_id);
    const request = { actor: by.actor, reason };
    // A trigger closes the changes with their tasks.
    const { wake } = await this.commands.obey(tx, by.workspaceId, 'cancel', { ids, request });
    return wake;
  }

  /** The change goes back to its agent, or fails because it went back too often without a person. */
  async returnToWork(
    tx: Transaction,
    { workspaceId, actor }: Mover,
    change: LockedChange,
    { why, byPerson = false }: { why: Return; byPerson?: boolean },
  ): Promise<void> {
    const revisions = { unattended: change.unattended_revisions, max: change.max_revisions };
    const { to, unattended: unattended_revisions } = stateAfterReturn(revisions, byPerson);
    const message =
      to === 'WORKING' ? WHY[why] : `${WHY[why]} (revisions without a person: ${revisions.max})`;
    const by = { workspaceId, actor };
    await this.move(tx, by, change, to, { reason: why, message, unattended_revisions });
    const common = { workspaceId, taskId: change.task_id, actor, message };
    if (to === 'WORKING') {
      await applyTransitions(tx, [{ ...common, to: 'PENDING' }]);
      await tx.rows(reconsiderPrerequisites, [workspaceId, [change.task_id]]);
      return;
    }
    const failed = { to, reason: REVISIONS_EXHAUSTED, lastError: message, level: 'WARN' } as const;
    await applyTransitions(tx, [{ ...common, ...failed }]);
  }

  /** @throws DroverError `illegal_transition` */
  async move(
    tx: Transaction,
    { workspaceId, actor }: Mover,
    { task_id: id, state }: Pick<LockedChange, 'task_id' | 'state'>,
    to: ChangeState,
    values: Partial<Record<MoveColumn, unknown>>,
  ): Promise<void> {
    const row = { ...values, to_state: to, actor_kind: actor.kind, actor_id: actor.id };
    if (await firstRow(tx, moveChange, [workspaceId, id, JSON.stringify(row)])) return;
    throw illegalChange(state, to);
  }
}

function whyUnclear({ task_id: id, state }: OtherAttempt): string {
  const ask = state === 'CLOSED' ? 'ask for its step again' : 'a host looks when it is closed';
  const command = state === 'CLOSED' ? 'merge' : 'close';
  return `Another attempt can still be on its target; ${ask}: drover review ${command} ${id}`;
}

export function illegalChange(
  current: ChangeState,
  requested: ChangeState,
  detail = `The change is ${current}, and can't become ${requested} from there.`,
): DroverError {
  return new DroverError('illegal_transition', {
    detail,
    members: { current, requested, legal: legalChangeTransitions(current) },
  });
}

/** Such as user:<id>. */
export function authorOf({ kind, id }: Actor): string {
  return id === null ? kind : `${kind}:${id}`;
}
