import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { firstRow, type Transaction } from '#lib/database';
import { type Actor, DroverError, newId } from '#lib/kernel';
import { reconsiderPrerequisites } from '#lib/task-manager';
import { applyTransitions } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import {
  type ChangeState,
  legalChangeTransitions,
  type ReviewKind,
  type Verdict,
} from '../domain/change-state.js';
import { type Return, stateAfterProof, stateAfterReturn } from '../domain/change-decisions.js';
import type { ChangeComment } from '../domain/review.js';
import { moveChange, type MoveColumn } from '../store/change-transition.sql.js';
import type { LockedChange } from '../store/changes.sql.js';
import { insertReview } from '../store/reviews.sql.js';

/** Who moves a change of a workspace. */
export interface Mover {
  workspaceId: string;
  actor: Actor;
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
}

/** The failure reason of a task whose change went back too often. */
export const REVISIONS_EXHAUSTED = 'revisions_exhausted';

const WHY: Record<Return, string> = {
  red: 'Its acceptance failed',
  changes_requested: 'Changes were requested',
  conflict: 'It conflicts with its target',
};

/** Moves locked changes together with their tasks, in the transaction that holds the locks. */
@Injectable()
export class ChangeMoves {
  constructor(
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
    { workspaceId, actor }: Mover,
    change: Pick<LockedChange, 'task_id' | 'revision' | 'head_commit'>,
    review: NewReview,
  ): Promise<string> {
    const id = newId();
    const { kind, verdict, commit = change.head_commit, body = '', comments = [] } = review;
    const { exitCode = null, durationMs = null } = review;
    const about = [change.task_id, change.revision, kind, verdict, commit, authorOf(actor)];
    const said = [body, JSON.stringify(comments), exitCode, durationMs];
    await tx.rows(insertReview, [workspaceId, id, ...about, ...said]);
    return id;
  }

  /** A green proof: people or agents review it, or nobody has to. */
  async prove(tx: Transaction, by: Mover, change: LockedChange): Promise<void> {
    const to = stateAfterProof(change.review);
    const review_seconds = this.config.tasks.reviewTimeoutSeconds;
    const review_step = change.review === 'agent' || change.review === 'both' ? 'ask' : null;
    const message = 'Its acceptance succeeded';
    const reviewed = to === 'IN_REVIEW' && { review_seconds, review_step };
    await this.move(tx, by, change, to, { message, ...reviewed });
  }

  async approve(tx: Transaction, by: Mover, change: LockedChange): Promise<void> {
    const approved_by = authorOf(by.actor);
    await this.move(tx, by, change, 'APPROVED', { approved_by, message: 'Its change is approved' });
  }

  /** Its commit is on the target: its task completes, unless it has ended. */
  async merge(tx: Transaction, by: Mover, change: LockedChange, commit: string): Promise<void> {
    const message = `Its change is merged as ${commit.slice(0, 12)}`;
    await this.move(tx, by, change, 'MERGED', { merged_commit: commit, message });
    // Its task ended while a host merged it.
    if (change.state === 'CLOSED') return;
    const { workspaceId, actor } = by;
    const taskId = change.task_id;
    await applyTransitions(tx, [{ workspaceId, taskId, actor, to: 'COMPLETED', message }]);
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
      to === 'WORKING'
        ? WHY[why]
        : `${WHY[why]}, after ${revisions.max} revisions without a person`;
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
