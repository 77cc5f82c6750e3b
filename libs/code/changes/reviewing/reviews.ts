import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '#lib/database';
import { actorOf, type Caller, DroverError } from '#lib/kernel';
import { TaskCommands } from '#lib/task-manager';
import { type ChangeState, STATES_OF_REVIEW } from '../domain/change-state.js';
import type { ChangeComment } from '../domain/review.js';
import { type AfterCommit, ChangeMoves, illegalChange, type Mover } from '../moves/change-moves.js';
import { lockWithAttempts } from '../moves/lock-with-attempts.js';
import { Changes } from '../reading/changes.js';
import type { WholeChange } from '../reading/change-view.js';
import type { LockedChange } from '../store/changes.sql.js';
import { noteComment } from '../store/reviews.sql.js';
import { takeApproval } from './person-approval.js';
import { hastenSync, retryStep } from './reviews.sql.js';

/** A review by a person. */
export interface ReviewRequest {
  /** The commit that was reviewed. */
  headCommit?: string;
  body?: string;
  comments?: ChangeComment[];
}

/** Lets people review changes, merge and close them. */
@Injectable()
export class Reviews {
  constructor(
    private readonly database: Database,
    private readonly moves: ChangeMoves,
    private readonly changes: Changes,
    private readonly commands: TaskCommands,
  ) {}

  /**
   * Approves the commit that the caller has seen. If nobody else has to approve it, hosts rebase,
   * prove and merge it. An agent that has to approve it, too, and gave no verdict, is asked again.
   * A repetition is accepted.
   *
   * @throws DroverError `change_not_found`, `change_moved`, `illegal_transition`
   */
  approve(
    caller: Caller,
    id: string,
    { headCommit, body }: ReviewRequest & { headCommit: string },
  ): Promise<WholeChange> {
    return this.within(caller, id, async (tx, by, change) => {
      refuseMoved(change, headCommit);
      if (change.state === 'APPROVED' || change.state === 'MERGED') return undefined;
      if (change.state !== 'IN_REVIEW') throw illegalChange(change.state, 'APPROVED');
      await this.moves.note(tx, by, change, { kind: 'review', verdict: 'approved', body });
      const isDone = await takeApproval(tx, by.workspaceId, change);
      return isDone ? this.moves.approve(tx, by, change) : undefined;
    });
  }

  /**
   * Sends a change back to its agent with the comments: a new run on the same branch. It ends a proof
   * that is under way.
   *
   * @throws DroverError `change_not_found`, `change_moved`, `illegal_transition`
   */
  requestChanges(caller: Caller, id: string, request: ReviewRequest): Promise<WholeChange> {
    return this.within(caller, id, async (tx, by, change) => {
      if (request.headCommit !== undefined) refuseMoved(change, request.headCommit);
      const { state } = change;
      if (!STATES_OF_REVIEW.some((one) => one === state)) throw illegalChange(state, 'WORKING');
      refuseWhileLanding(change, 'WORKING');
      const { body, comments } = request;
      const verdict = 'changes_requested' as const;
      await this.moves.note(tx, by, change, { kind: 'review', verdict, body, comments });
      const why = { why: 'changes_requested', byPerson: true } as const;
      await this.moves.returnToWork(tx, by, change, why);
    });
  }

  /** Adds comments, which the next run of the change reads. @throws DroverError `change_not_found` */
  comment(caller: Caller, id: string, { body, comments }: ReviewRequest): Promise<WholeChange> {
    return this.within(caller, id, async (tx, by, change) => {
      const said = { kind: 'review', verdict: 'commented', body, comments } as const;
      const reviewId = await this.moves.note(tx, by, change, said);
      const { kind, id: actorId } = by.actor;
      await tx.rows(noteComment, [by.workspaceId, reviewId, kind, actorId]);
      if (change.step === 'sync') await tx.rows(hastenSync, [by.workspaceId, id]);
    });
  }

  /**
   * Asks hosts to do the step of a change now: acceptance, merge or removal of its branch. It ends
   * the wait after failures.
   *
   * @throws DroverError `change_not_found`, `illegal_transition` where no step is due
   */
  merge(caller: Caller, id: string): Promise<WholeChange> {
    return this.within(caller, id, async (tx, by, change) => {
      if (change.state === 'MERGED' && change.step === null) return;
      // The obstacle of a synchronisation comes with attempts. Any other one stays.
      const isIdle = change.step === 'sync' && change.step_attempts === 0;
      if (change.step === null || isIdle) throw illegalChange(change.state, 'MERGED');
      await tx.rows(retryStep, [by.workspaceId, id]);
    });
  }

  /**
   * Ends a change without a merge: its task is cancelled, its work is discarded, and a host removes
   * its branch. A repetition is accepted.
   *
   * @throws DroverError `change_not_found`, `illegal_transition`
   */
  close(caller: Caller, id: string, reason?: string): Promise<WholeChange> {
    return this.within(caller, id, async (tx, by, change) => {
      const { state } = change;
      if (state === 'CLOSED') return undefined;
      if (state === 'MERGED') throw illegalChange(state, 'CLOSED');
      refuseWhileLanding(change, 'CLOSED');
      const closed =
        state === 'FAILED'
          ? await this.moves.move(tx, by, change, 'CLOSED', { reason: 'closed', message: reason })
          : // A trigger closes the change with its task.
            await this.commands.within(tx, caller, 'cancel', {
              id,
              reason: reason ?? 'Its change was closed',
            });
      // No host removes its branch.
      const resumed = change.branch === null && (await this.moves.resumeAttempts(tx, by, change));
      return () => {
        closed?.();
        if (resumed) resumed();
      };
    });
  }

  private async within(
    caller: Caller,
    id: string,
    decide: (tx: Transaction, by: Mover, change: LockedChange) => Promise<AfterCommit>,
  ): Promise<WholeChange> {
    const { workspaceId } = caller;
    const by = { workspaceId, actor: actorOf(caller) };
    const afterCommit = await this.database.tenant(workspaceId).transaction(async (tx) => {
      const change = await lockWithAttempts(tx, workspaceId, id);
      if (!change) throw new DroverError('change_not_found');
      return decide(tx, by, change);
    });
    afterCommit?.();
    this.moves.wake(workspaceId);
    return this.changes.get(caller, id);
  }
}

/** @throws DroverError `change_moved` */
function refuseMoved(change: LockedChange, seen: string): void {
  const { head_commit: headCommit, revision, state } = change;
  if (headCommit === seen) return;
  throw new DroverError('change_moved', { members: { headCommit, revision, current: state } });
}

/**
 * The push can have taken place. If its host is lost, the next one finds it. One that removes the
 * branch of a closed change looks as well.
 *
 * @throws DroverError `illegal_transition`
 */
function refuseWhileLanding(change: LockedChange, requested: ChangeState): void {
  if (change.step !== 'land') return;
  const isHeld = change.step_agent_id !== null;
  if (!isHeld && (requested === 'CLOSED' || !change.may_have_landed)) return;
  const detail = isHeld
    ? 'A host is merging the change now. Try again when it has ended.'
    : 'It can be on its target already, and a host has to look: ' +
      `drover review merge ${change.task_id}`;
  throw illegalChange(change.state, requested, detail);
}
