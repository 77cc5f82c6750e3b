import { Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { Artifacts, DIFF_OF_CHANGE } from '#lib/artifacts';
import { Database, firstRow, isUnreachable } from '#lib/database';
import { type CoordinatorCaller, DroverError } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { TaskCommands, TaskCreation } from '#lib/task-manager';
import type { Review } from '#lib/repositories/domain';
import { lockTasks } from '#lib/transitions';
import { reviewInstructions, verdictIn } from '../domain/agent-review.js';
import { isApproved } from '../domain/change-decisions.js';
import { authorOf, ChangeMoves } from '../moves/change-moves.js';
import { lockWithAttempts } from '../moves/lock-with-attempts.js';
import { lockChange } from '../store/changes.sql.js';
import { approvalsOfChange } from '../store/reviews.sql.js';
import {
  type ChangeToReview,
  changeToReview,
  type DueAgentReview,
  endAgentReview,
  noteReviewer,
  postponeReview,
  wordsOfReviewer,
} from './agent-reviews.sql.js';

const MAX_TITLE = 240;
const NO_VERDICT = 'The reviewing agent gave no verdict: review the change yourself.';
const NO_VERDICT_OF_BOTH =
  'The reviewing agent gave no verdict. Approve the change to ask the agent again, or request ' +
  'changes.';

const QUEUE_FULL = 'The queue of the workspace is full: the review by an agent waits.';
const FAILED = 'The review by an agent failed: the server tries again.';

/** The change moved, or somebody else has asked. */
class Outdated extends Error {}

/** Reviews by agents: a task asks another agent, and its last words have the verdict. */
@Injectable()
export class AgentReviews {
  constructor(
    private readonly database: Database,
    private readonly artifacts: Artifacts,
    private readonly creation: TaskCreation,
    private readonly commands: TaskCommands,
    private readonly moves: ChangeMoves,
    private readonly logger: Logger,
  ) {}

  /**
   * Repeatable: the row of the change keeps two servers from asking twice. A failure postpones this
   * change alone.
   *
   * @returns false after a failure
   * @throws Error that `isUnreachable` knows
   */
  async advance({ workspace_id, task_id, state, review_step }: DueAgentReview): Promise<boolean> {
    try {
      if (state !== 'IN_REVIEW') await this.cancel(workspace_id, task_id);
      else if (review_step === 'ask') await this.ask(workspace_id, task_id);
      else await this.take(workspace_id, task_id);
      return true;
    } catch (error) {
      if (isUnreachable(error)) throw error;
      const about = { workspaceId: workspace_id, changeId: task_id };
      this.logger.warn('Review by an agent failed', { ...about, step: review_step, error });
      const isFull = error instanceof DroverError && error.code === 'queue_full';
      const params = [workspace_id, task_id, isFull ? QUEUE_FULL : FAILED];
      await this.database.tenant(workspace_id).rows(postponeReview, params);
      return false;
    }
  }

  private async ask(workspaceId: string, changeId: string): Promise<void> {
    const tenant = this.database.tenant(workspaceId);
    const change = await firstRow(tenant, changeToReview, [workspaceId, changeId]);
    if (!change) return;
    const caller: CoordinatorCaller = { kind: 'coordinator', workspaceId };
    const diff = await this.diffOf(workspaceId, change);
    try {
      await this.creation.createTogether(caller, [taskOf(change, diff)], async (tx, [taskId]) => {
        const params = [workspaceId, changeId, taskId, change.head_commit];
        if (!(await firstRow(tx, noteReviewer, params))) throw new Outdated();
      });
    } catch (error) {
      if (error instanceof Outdated) return;
      // Full queues empty. Other refusals need a person.
      if (!(error instanceof DroverError) || error.code === 'queue_full') throw error;
      this.logger.warn('A reviewing agent could not be asked', { workspaceId, changeId, error });
      await this.giveUp(workspaceId, changeId, change);
    }
  }

  /** No agent can review the commit, if it is still the one to review. */
  private async giveUp(
    workspaceId: string,
    changeId: string,
    asked: ChangeToReview,
  ): Promise<void> {
    await this.database.tenant(workspaceId).transaction(async (tx) => {
      await lockTasks(tx, workspaceId, [changeId]);
      const now = await firstRow(tx, lockChange, [workspaceId, changeId]);
      if (now?.state !== 'IN_REVIEW' || now.review_step !== 'ask') return;
      if (now.head_commit !== asked.head_commit) return;
      await tx.rows(endAgentReview, [workspaceId, changeId, noVerdict(asked)]);
    });
  }

  private async take(workspaceId: string, changeId: string): Promise<void> {
    const afterCommit = await this.database.tenant(workspaceId).transaction(async (tx) => {
      const change = await lockWithAttempts(tx, workspaceId, changeId);
      if (change?.state !== 'IN_REVIEW' || change.review_step !== 'take') return undefined;
      const said = await firstRow(tx, wordsOfReviewer, [workspaceId, changeId]);
      const verdict = said?.is_completed === true ? verdictIn(said.words) : undefined;
      await tx.rows(endAgentReview, [workspaceId, changeId, verdict ? null : noVerdict(change)]);
      if (!verdict) return undefined;
      const by = { workspaceId, actor: { kind: 'agent' as const, id: said?.agent_id ?? null } };
      await this.moves.note(tx, by, change, { kind: 'review', ...verdict });
      if (verdict.verdict === 'changes_requested') {
        return this.moves.returnToWork(tx, by, change, { why: 'changes_requested' });
      }
      const approvals = await tx.rows(approvalsOfChange, [workspaceId, changeId, change.revision]);
      const person = approvals.some(({ author }) => !author.startsWith('agent:'));
      if (!isApproved(change.review, { agent: true, person })) return undefined;
      const approved = { approved_by: authorOf(by.actor), message: 'Its change is approved' };
      return this.moves.approveOrClose(tx, by, change, approved);
    });
    afterCommit?.();
    this.moves.wake(workspaceId);
  }

  /** A person was first, or the change has ended: the agent need not review it. */
  private async cancel(workspaceId: string, changeId: string): Promise<void> {
    const caller: CoordinatorCaller = { kind: 'coordinator', workspaceId };
    const tenant = this.database.tenant(workspaceId);
    const reviewing = await firstRow(tenant, wordsOfReviewer, [workspaceId, changeId]);
    let afterCommit: (() => void) | undefined;
    await tenant.transaction(async (tx) => {
      await lockTasks(tx, workspaceId, [changeId, ...(reviewing ? [reviewing.id] : [])]);
      const change = await firstRow(tx, lockChange, [workspaceId, changeId]);
      if (!change || change.state === 'IN_REVIEW' || change.review_step === null) return;
      await tx.rows(endAgentReview, [workspaceId, changeId, change.obstacle]);
      const now = await firstRow(tx, wordsOfReviewer, [workspaceId, changeId]);
      if (now === undefined || now.is_over || now.id !== reviewing?.id) return;
      const reason = 'Its change is no longer in review';
      afterCommit = await this.commands.within(tx, caller, 'cancel', { id: now.id, reason });
    });
    afterCommit?.();
  }

  /** The stored diff, or words that there is none. */
  private async diffOf(workspaceId: string, { run_id: runId }: ChangeToReview): Promise<string> {
    if (runId === null) return '';
    const found = await this.artifacts
      .open(workspaceId, { runId, name: DIFF_OF_CHANGE })
      .catch((error: unknown) => {
        if (error instanceof DroverError && error.code === 'artifact_not_found') return undefined;
        throw error;
      });
    return found === undefined ? '(The diff is not available.)' : textOf(found.content);
  }
}

function noVerdict({ review }: { review: Review }): string {
  return review === 'both' ? NO_VERDICT_OF_BOTH : NO_VERDICT;
}

async function textOf(content: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function taskOf(change: ChangeToReview, diff: string) {
  const { kind, model, title, project_id: projectId, priority } = change;
  const about = { ...change, headCommit: change.head_commit };
  return {
    title: `Review: ${title}`.slice(0, MAX_TITLE),
    taskType: 'review',
    priority,
    instructions: reviewInstructions(about, diff),
    agent: { kind: kind ?? '', permissionMode: 'read-only', ...(model === null ? {} : { model }) },
    ...(projectId === null ? {} : { projectId }),
  };
}
