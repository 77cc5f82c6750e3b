import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow, type Sql } from '#lib/database';
import { DroverError, redactText } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import type { LockedTask } from '../domain/locked-task.js';
import { redactSecrets } from '../domain/redact-secrets.js';
import { planRecovery, type RecoveryPlan } from '../domain/recover.js';
import type { RetryPolicy, RunFailure } from '../domain/failure.js';
import type { TaskStatus } from '../domain/task-state.js';
import { addLastWords } from '../store/add-last-words.sql.js';
import { appendLogs } from '../store/append-logs.sql.js';
import { lockHeldTask } from '../store/held-tasks.sql.js';
import { applyPlans } from '../store/moves.js';
import { renewLease } from '../store/renew-lease.sql.js';
import type { RunSituation } from '../store/run-situation.sql.js';
import { startRuns } from '../store/start-runs.sql.js';
import { planRelease, type ReleasePlan } from '../domain/release.js';
import { Completions } from './completions.js';
import { ReportSecrets } from './report-secrets.js';
import {
  answerRepetition,
  hasBegun,
  outcome,
  refuseReport,
  type Repetition,
  type ReportOutcome,
  situationOf,
  staleRun,
} from './repeated-reports.js';
import type { Reporter } from './reporter.js';

export interface Progress {
  progressPercent?: number;
  currentStep?: string;
  checkpointData?: Record<string, unknown>;
  estimatedCompletionAt?: string;
}

export interface FailureReport {
  error: {
    message: string;
    class?: RunFailure;
    exitCode?: number;
    signal?: string;
    stackTrace?: string;
    retryable?: boolean;
  };
  checkpointData?: Record<string, unknown>;
}

const SESSION_OUTPUT = 'session_output';

export interface LogEntry {
  level?: string;
  event?: string;
  message?: string;
  details?: Record<string, unknown>;
  /** When it happened, by the agent's clock; kept in the details. */
  at?: string;
}

/**
 * What agents say about their runs. A report counts only for the live run of its task: for any other
 * it is refused with `stale_run`, and changes nothing.
 */
@Injectable()
export class RunReports {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(Completions) private readonly completions: Completions,
    @Inject(ReportSecrets) private readonly secrets: ReportSecrets,
    @Inject(WakeUps) private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async start(
    by: Reporter,
    session: { sessionKey?: string; branch?: string },
  ): Promise<ReportOutcome> {
    const params = [...runsParams(by), session.sessionKey ?? null, session.branch ?? null];
    const started = await firstRow(this.database.tenant(by.workspaceId), startRuns, params);
    if (started) return outcome(by, started.task_id, 'RUNNING', started.version);
    return this.repeated(by, {
      is: (s) => s.is_live && hasBegun(s.run_state) && s.task_status === 'RUNNING',
      to: 'RUNNING',
    });
  }

  async complete(
    by: Reporter,
    result: { outputResult?: unknown; summary?: string },
  ): Promise<ReportOutcome> {
    const { outputResult = null, summary } = result;
    const sealed = await this.secrets.seal(by, 'output_result', outputResult);
    const done = await this.completions.complete(by.workspaceId, {
      run_id: by.runId,
      agent_id: by.agentId,
      actor_kind: by.actor.kind,
      actor_id: by.actor.id,
      output_result: sealed.value,
      summary: summary === undefined ? null : redactText(summary),
      sealed_with: sealed.keyId,
    });
    if (!done)
      return this.repeated(by, { is: (s) => s.run_state === 'COMPLETED', to: 'COMPLETED' });
    if (done.dependents_unsettled) this.wakeUps.coordinator();
    return outcome(by, done.task_id, 'COMPLETED', done.version);
  }

  async progress(
    by: Reporter,
    progress: Progress,
  ): Promise<{ taskId: string; progressPercent: number }> {
    const { statement, checkpoint, key } = await this.secrets.checkpoint(
      by,
      progress.checkpointData,
    );
    const reported = await this.reportOrRefuse(by, statement, [
      ...runParams(by),
      progress.progressPercent ?? null,
      // Steps and messages go out with events, so what looks like a secret is hidden before it is kept.
      progress.currentStep === undefined ? null : redactText(progress.currentStep),
      checkpoint,
      progress.estimatedCompletionAt ?? null,
      ...key,
    ]);
    return { taskId: reported.task_id, progressPercent: reported.progress_percent };
  }

  async logs(by: Reporter, entries: readonly LogEntry[]): Promise<{ accepted: number }> {
    const rows = entries.map((entry) => ({
      level: entry.level ?? 'INFO',
      event: entry.event ?? 'output',
      message: entry.message === undefined ? null : redactText(entry.message),
      details: redactSecrets(
        entry.at === undefined ? (entry.details ?? {}) : { ...entry.details, at: entry.at },
      ),
    }));
    return this.reportOrRefuse(by, appendLogs, [...runParams(by), JSON.stringify(rows)]);
  }

  /** What a session wrote last, whether its run goes on or not. Said again it changes nothing. */
  async lastWords(by: Reporter, { message, at }: { message: string; at: string }): Promise<void> {
    const words = [SESSION_OUTPUT, redactText(message), JSON.stringify({ at })];
    const params = [...runParams(by), ...words];
    await this.database.tenant(by.workspaceId).rows(addLastWords, params);
  }

  /** @throws DroverError `lease_renewals_exhausted` */
  async renew(
    by: Reporter,
    leaseSeconds?: number,
  ): Promise<{ leaseExpiresAt: Date; renewals: number }> {
    const limit = this.config.tasks.maxClaimRenewals;
    const params = [by.workspaceId, by.runId, by.agentId, leaseSeconds ?? null, limit];
    const renewed = await firstRow(this.database.tenant(by.workspaceId), renewLease, params);
    if (renewed) return { leaseExpiresAt: renewed.lease_expires_at, renewals: renewed.renewals };
    const situation = await situationOf(this.database, by);
    if (!situation.is_live) throw staleRun(situation);
    throw new DroverError('lease_renewals_exhausted', {
      detail: `The lease was renewed ${limit} times.`,
    });
  }

  /** The run has failed; whether its task is tried again is decided here. */
  async fail(by: Reporter, report: FailureReport): Promise<ReportOutcome> {
    const { error } = report;
    const failure = {
      reason: error.class ?? 'unknown',
      message: redactText(error.message),
      actor: by.actor,
      retryable: error.retryable,
      stackTrace: error.stackTrace === undefined ? undefined : redactText(error.stackTrace),
      exitCode: error.exitCode,
      signal: error.signal,
    } as const;
    const ended = await this.endHeldRun(by, report.checkpointData, (task) =>
      planRecovery(task, failure, this.retries, Math.random()),
    );
    if (!ended) return this.repeated(by, { is: (s) => s.run_state === 'FAILED', to: 'FAILED' });
    this.wakeUps.coordinator();
    return outcome(by, ended.id, ended.status as TaskStatus, ended.version);
  }

  /**
   * The run gives its task back: unstarted, paused, or begun and not finished (a drain). Past its deadline
   * that is a time-out, and told as one when it is repeated.
   */
  async release(
    by: Reporter,
    report: { reason?: string; checkpointData?: Record<string, unknown> },
  ): Promise<ReportOutcome> {
    const release = { actor: by.actor, reason: redactText(report.reason ?? 'released') };
    const ended = await this.endHeldRun(by, report.checkpointData, (task) =>
      planRelease(task, release, this.retries, Math.random()),
    );
    if (!ended) {
      const is = (s: RunSituation) => s.run_state === 'RELEASED' || s.ended_past_deadline;
      return this.repeated(by, { is, to: 'PENDING' });
    }
    if (ended.status === 'PENDING') this.wakeUps.claims(by.workspaceId, 1);
    else this.wakeUps.coordinator();
    return outcome(by, ended.id, ended.status as TaskStatus, ended.version);
  }

  private get retries(): RetryPolicy {
    return { backoffCapSeconds: this.config.tasks.retryBackoffCapSeconds };
  }

  /** Locks the task of the run, keeps its last checkpoint, and applies what is planned for it. */
  private async endHeldRun(
    by: Reporter,
    checkpointData: Record<string, unknown> | undefined,
    plan: (task: LockedTask) => RecoveryPlan | ReleasePlan,
  ): Promise<{ id: string; status: string; version: number } | undefined> {
    const last = await this.secrets.checkpoint(by, checkpointData);
    return this.database.tenant(by.workspaceId).transaction(async (tx) => {
      const task = await firstRow(tx, lockHeldTask, [by.workspaceId, by.runId, by.agentId]);
      if (!task) return undefined;
      if (last.checkpoint !== null) {
        const params = [...runParams(by), null, null, last.checkpoint, null, ...last.key];
        await tx.rows(last.statement, params);
      }
      const moved = await applyPlans(tx, [plan(task)]);
      return moved.at(-1) ?? { id: task.id, status: task.status, version: task.version };
    });
  }

  private async reportOrRefuse<Row>(by: Reporter, sql: Sql<Row>, params: unknown[]): Promise<Row> {
    const row = await firstRow(this.database.tenant(by.workspaceId), sql, params);
    return row ?? refuseReport(this.database, by);
  }

  private repeated(by: Reporter, repetition: Repetition): Promise<ReportOutcome> {
    return answerRepetition(this.database, by, repetition);
  }
}

function runParams(by: Reporter): unknown[] {
  return [by.workspaceId, by.runId, by.agentId, by.actor.kind, by.actor.id];
}

function runsParams(by: Reporter): unknown[] {
  return [by.workspaceId, [by.runId], by.agentId, by.actor.kind, by.actor.id];
}
