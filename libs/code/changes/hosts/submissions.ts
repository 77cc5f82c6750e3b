import { Injectable } from '@nestjs/common';
import { Database, firstRow, type Transaction } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { Repositories } from '#lib/repositories';
import { branchOf } from '#lib/repositories/domain';
import { type Checkpoint, refuseReport, type Reporter, RunSecrets } from '#lib/runs';
import { type Sealed, writeSecrets } from '#lib/secrets';
import {
  applyTransitions,
  legalTaskTransitions,
  type LockedTask,
  lockLeasedTask,
} from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import { moveChange } from '../store/change-transition.sql.js';
import { type ChangeRow, lockChange } from '../store/changes.sql.js';
import { feedbackOfChange, toReviewView } from '../store/reviews.sql.js';
import { type HostChange, type RunRepository, toHostChange } from './host-change.js';
import { type ChangeOfRun, changeOfRun, nameBranch } from './submissions.sql.js';

/** The end reason of a run that submitted its change. */
export const SUBMITTED = 'submitted';

export interface SubmitRequest {
  baseCommit: string;
  headCommit: string;
  filesChanged: number;
  insertions: number;
  deletions: number;
  summary?: string;
  outputResult?: Record<string, unknown>;
  checkpointData?: Record<string, unknown>;
}

type Submitted = Omit<SubmitRequest, 'outputResult' | 'checkpointData'> & {
  result: Sealed;
  checkpoint: Checkpoint;
};

/** Gives hosts the repositories of their runs, and takes the changes that runs made. */
@Injectable()
export class Submissions {
  constructor(
    private readonly database: Database,
    private readonly secrets: RunSecrets,
    private readonly repositories: Repositories,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * The repository of a live run with its secrets, and the change with its branch, which is named
   * the first time.
   *
   * @throws DroverError `run_not_found`, `stale_run`, `run_has_no_repository`, `secrets_unreadable`
   */
  async repositoryOf(by: Reporter): Promise<RunRepository> {
    const { workspaceId } = by;
    const row = await this.changeOf(by);
    if (!row.is_live) return refuseReport(this.database, by);
    const tenant = this.database.tenant(workspaceId);
    const names = { agent: row.agent, task: row.task_id };
    const branch = branchOf(row.branch_pattern ?? '{agent}/{task}', names);
    const [named, feedback, repository] = await Promise.all([
      firstRow(tenant, nameBranch, [workspaceId, row.task_id, branch]),
      tenant.rows(feedbackOfChange, [workspaceId, row.task_id]),
      this.repositories.access({ workspaceId, id: row.repository_id }, row.project_id),
    ]);
    const change = toHostChange({ ...row, branch: named?.branch ?? branch });
    const { pull_request_url: pullRequestUrl } = row;
    const said = feedback.map(toReviewView);
    return { repository, change: { ...change, feedback: said, pullRequestUrl } };
  }

  /**
   * Stores the submitted commit, ends the run and pauses its task for review, all or nothing. A
   * change without a difference is closed, and its task completes. The same run gets the change
   * again for the same commit.
   *
   * @throws DroverError `run_not_found`, `stale_run`, `illegal_transition`, `run_has_no_repository`
   */
  async submit(by: Reporter, request: SubmitRequest): Promise<HostChange> {
    const { workspaceId, runId, agentId } = by;
    // Refuses a run without a repository.
    await this.changeOf(by);
    const submitted: Submitted = await this.secrets.clean(by, request);
    const submitting = this.database.tenant(workspaceId).transaction(async (tx) => {
      const task = await firstRow(tx, lockLeasedTask, [workspaceId, runId, agentId]);
      if (!task) return false;
      refusePaused(task);
      await (request.filesChanged === 0
        ? this.complete(tx, by, { task, submitted })
        : this.store(tx, by, { task, submitted }));
      return true;
    });
    const isNew = await this.secrets.writtenAtEnd(by, submitting);
    if (isNew) this.wake(workspaceId);
    // Another request of this run can have committed while this one waited for the lock.
    const after = await this.changeOf(by);
    const isRepeated = after.run_id === runId && after.head_commit === request.headCommit;
    const isEmpty = after.state === 'CLOSED' && request.filesChanged === 0;
    if (!isNew && !isRepeated && !isEmpty) return refuseReport(this.database, by);
    return toHostChange(after);
  }

  /** @throws DroverError `run_not_found`, `run_has_no_repository` */
  private async changeOf(by: Reporter): Promise<ChangeRow & ChangeOfRun> {
    const params = [by.workspaceId, by.runId, by.agentId];
    const row = await firstRow(this.database.tenant(by.workspaceId), changeOfRun, params);
    if (!row) throw new DroverError('run_not_found');
    if (row.task_id === null) throw new DroverError('run_has_no_repository');
    return row;
  }

  private async store(
    tx: Transaction,
    by: Reporter,
    { task, submitted }: { task: LockedTask; submitted: Submitted },
  ): Promise<void> {
    await firstRow(tx, lockChange, [by.workspaceId, task.id]);
    await this.move(tx, by, task, {
      to_state: 'PROVING',
      message: 'Its agent submitted its change',
      run_id: by.runId,
      base_commit: submitted.baseCommit,
      head_commit: submitted.headCommit,
      files_changed: submitted.filesChanged,
      insertions: submitted.insertions,
      deletions: submitted.deletions,
    });
    await this.endRun(tx, by, { task, submitted, to: 'PAUSED' });
  }

  /** Nothing is left to prove and to review. */
  private async complete(
    tx: Transaction,
    by: Reporter,
    { task, submitted }: { task: LockedTask; submitted: Submitted },
  ): Promise<void> {
    await firstRow(tx, lockChange, [by.workspaceId, task.id]);
    const message = 'Its run changed nothing';
    await this.move(tx, by, task, { to_state: 'CLOSED', reason: 'nothing_changed', message });
    await this.endRun(tx, by, { task, submitted, to: 'COMPLETED' });
  }

  private async move(tx: Transaction, by: Reporter, task: LockedTask, move: object): Promise<void> {
    const { kind: actor_kind, id: actor_id } = by.actor;
    const json = JSON.stringify({ ...move, actor_kind, actor_id });
    const moved = await firstRow(tx, moveChange, [by.workspaceId, task.id, json]);
    if (!moved) throw new DroverError('illegal_transition', { detail: 'The change has ended.' });
  }

  private async endRun(
    tx: Transaction,
    by: Reporter,
    { task, submitted, to }: { task: LockedTask; submitted: Submitted; to: 'PAUSED' | 'COMPLETED' },
  ): Promise<void> {
    const { workspaceId, runId, actor } = by;
    const { checkpoint, result, summary } = submitted;
    const isPaused = to === 'PAUSED';
    await applyTransitions(tx, [
      {
        workspaceId,
        taskId: task.id,
        actor,
        to,
        ...(isPaused && { pausedFor: 'review' as const, reason: 'review' }),
        message: isPaused ? 'It waits for the review of its change' : 'Its run changed nothing',
        summary,
        outputResult: result.shown ?? undefined,
        checkpointData:
          checkpoint.text === null ? undefined : (JSON.parse(checkpoint.text) as unknown),
        run: { runId, to: isPaused ? 'RELEASED' : 'COMPLETED', endReason: SUBMITTED },
      },
    ]);
    const originals = [...checkpoint.originals, ...(result.original ? [result.original] : [])];
    for (const [sql, params] of writeSecrets(workspaceId, originals)) await tx.rows(sql, params);
  }

  private wake(workspaceId: string): void {
    this.wakeUps.steps(workspaceId);
    // Its agent has room for another run, and dependents may be released.
    this.wakeUps.coordinator();
  }
}

/** A run that was asked to pause must release its task. */
function refusePaused({ status }: LockedTask): void {
  if (status !== 'PAUSED') return;
  throw new DroverError('illegal_transition', {
    detail: 'The task is paused: its run must release it.',
    members: { current: status, requested: 'PAUSED', legal: legalTaskTransitions(status) },
  });
}
