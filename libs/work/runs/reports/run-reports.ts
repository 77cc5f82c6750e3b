import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow, type Transaction } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import {
  applyPlans,
  type LockedTask,
  lockLeasedTask,
  planFailure,
  planRelease,
  type FailurePlan,
  type ReleasePlan,
  type RetryPolicy,
  type RunFailure,
  type TaskStatus,
} from '#lib/transitions';
import { writeSecrets } from '#lib/secrets';
import type { PricedUsage } from '#lib/budgets';
import { addLastWords } from './add-last-words.sql.js';
import { appendLogs } from './append-logs.sql.js';
import { reportAndStart, runParams } from './first-report.js';
import { LogBudget } from './log-budget.js';
import { noteSession } from './note-session.sql.js';
import { reportProgress } from './report-progress.sql.js';
import { renewLease } from './renew-lease.sql.js';
import type { RunSituation } from './run-situation.sql.js';
import { startRun } from './start-run.sql.js';
import type { CompletedRow } from './complete-runs.sql.js';
import { type Completion, CompletionBatcher } from './completion-batcher.js';
import {
  answerReplay,
  hasBegun,
  outcome,
  refuseReport,
  type Replay,
  type ReportOutcome,
  situationOf,
  staleRun,
} from './report-replay.js';
import type { Reporter } from './reporter.js';
import { SessionLeases } from '../leases/session-leases.js';
import { type Checkpoint, RunSecrets } from './run-secrets.js';

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

export interface ReleaseReport {
  reason?: string;
  /** For the log of the task; absent: the reason is logged. */
  message?: string;
  checkpointData?: Record<string, unknown>;
}

const SESSION_OUTPUT = 'session_output';
/** A resumed agent is told which tool calls are done, and which may have happened. */
const TOOL_EVENTS: ReadonlySet<string> = new Set(['agent_tool', 'agent_tool_result']);

export interface LogEntry {
  level?: string;
  event?: string;
  message?: string;
  details?: Record<string, unknown>;
  /** When it happened, by the agent's clock; stored in the details. */
  at?: string;
}

/**
 * Reports of agents about their runs. A report counts only for the live run of its task: for any
 * other run it is refused with `stale_run`, and changes nothing.
 */
@Injectable()
export class RunReports {
  private readonly logBudget: LogBudget;

  constructor(
    private readonly database: Database,
    private readonly completions: CompletionBatcher,
    private readonly secrets: RunSecrets,
    private readonly wakeUps: WakeUps,
    private readonly leases: SessionLeases,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.logBudget = new LogBudget(config);
  }

  async start(
    by: Reporter,
    session: { sessionKey?: string; branch?: string },
  ): Promise<ReportOutcome> {
    const { sessionKey = null, branch = null } = await this.secrets.clean(by, session);
    const params = [...runParams(by), sessionKey, branch];
    const started = await firstRow(this.database.tenant(by.workspaceId), startRun, params);
    if (started) {
      this.leases.hear(by);
      return outcome(by, started.task_id, 'RUNNING', started.version);
    }
    const replayed = await this.replay(by, {
      is: (s) => s.is_live && hasBegun(s.run_state) && s.task_status === 'RUNNING',
      to: 'RUNNING',
    });
    if (sessionKey !== null || branch !== null) {
      const told = [by.workspaceId, by.runId, by.agentId, sessionKey, branch];
      await this.database.tenant(by.workspaceId).rows(noteSession, told);
    }
    return replayed;
  }

  /**
   * @param together completes the run in another way; undefined if it has changed nothing
   */
  async complete(
    by: Reporter,
    result: { outputResult?: unknown; summary?: string },
    usage?: PricedUsage,
    together?: (completion: Completion) => Promise<CompletedRow | undefined>,
  ): Promise<ReportOutcome> {
    const { summary = null, result: sealed } = await this.secrets.clean(by, result);
    const completion = {
      run_id: by.runId,
      agent_id: by.agentId,
      actor_kind: by.actor.kind,
      actor_id: by.actor.id,
      output_result: sealed.shown,
      summary,
      original: sealed.original,
      usage,
    };
    const complete = async () =>
      (await together?.(completion)) ?? this.completions.complete(by.workspaceId, completion);
    const done = await this.secrets.writtenAtEnd(by, complete());
    if (!done) return this.replay(by, { is: (s) => s.run_state === 'COMPLETED', to: 'COMPLETED' });
    if (done.dependents_unsettled) this.wakeUps.coordinator();
    return outcome(by, done.task_id, 'COMPLETED', done.version);
  }

  async progress(
    by: Reporter,
    progress: Progress,
  ): Promise<{ taskId: string; progressPercent: number }> {
    const safe = await this.secrets.clean(by, progress);
    const tenant = this.database.tenant(by.workspaceId);
    const reporting = reportAndStart(tenant, by, (begunOnly) => stepsOf(by, safe, begunOnly), {
      // The next report makes up for a lost one, except for its checkpoint.
      mayBeLost: progress.checkpointData === undefined,
    });
    const reported = await this.secrets.written(reporting);
    // Later reports must not show the checkpoint's secrets either.
    if (safe.checkpoint.originals.some((original) => original.key_id)) this.secrets.forget(by);
    if (!reported) return refuseReport(this.database, by);
    this.leases.hear(by);
    return { taskId: reported.task_id, progressPercent: reported.progress_percent };
  }

  async logs(by: Reporter, entries: readonly LogEntry[]): Promise<{ accepted: number }> {
    const safe = await this.secrets.clean(by, { entries });
    const rows = safe.entries.map(({ level, event, message, details, at }) => ({
      level: level ?? 'INFO',
      event: event ?? 'output',
      message: message ?? null,
      details: at === undefined ? (details ?? {}) : { ...details, at },
    }));
    const allowed = this.logBudget.take(by, rows);
    const params = [...runParams(by), JSON.stringify(allowed.entries)];
    const tenant = this.database.tenant(by.workspaceId);
    const stored = reportAndStart(
      tenant,
      by,
      (begunOnly) => [[appendLogs, [...params, begunOnly]]],
      {
        mayBeLost: !rows.some(({ event }) => TOOL_EVENTS.has(event)),
      },
    );
    const appended = await stored.catch((error: unknown) => {
      allowed.refund();
      throw error;
    });
    if (!appended) {
      allowed.refund();
      return refuseReport(this.database, by);
    }
    this.leases.hear(by);
    this.wakeUps.logs(appended.task_id);
    return { accepted: appended.accepted };
  }

  /** Adds an entry of the server itself. Unlike a report, it does not start the run. */
  async note(by: Reporter, entry: Required<Pick<LogEntry, 'level' | 'event' | 'message'>>) {
    const { entries } = await this.secrets.clean(by, { entries: [entry] });
    const params = [...runParams(by), JSON.stringify(entries), false];
    const noted = await firstRow(this.database.tenant(by.workspaceId), appendLogs, params);
    if (noted) this.wakeUps.logs(noted.task_id);
  }

  /**
   * Adds the last output of a session, whether its run is live or not. A repeated report changes
   * nothing.
   */
  async lastWords(by: Reporter, said: { message: string; at: string }): Promise<void> {
    const { message, at } = await this.secrets.clean(by, said);
    const words = [SESSION_OUTPUT, message, JSON.stringify({ at })];
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

  /** Fails the run, and decides whether its task is tried again. */
  async fail(by: Reporter, report: FailureReport): Promise<ReportOutcome> {
    const { error, checkpoint } = await this.secrets.clean(by, report);
    const { class: reason = 'unknown', ...details } = error;
    const failure = { ...details, reason, actor: by.actor };
    const ended = await this.endLeasedRun(by, { checkpoint }, (task) =>
      planFailure(task, failure, this.retries, Math.random()),
    );
    if (!ended) return this.replay(by, { is: (s) => s.run_state === 'FAILED', to: 'FAILED' });
    this.wakeUps.coordinator();
    return outcome(by, ended.id, ended.status as TaskStatus, ended.version);
  }

  /**
   * The run releases its task: unstarted, paused, or begun and not finished (a drain). Past its
   * deadline the release counts as a timeout, and a replay is answered as one.
   *
   * @param also runs in the same transaction, for ended runs as well: with it, these are not
   *   refused. It returns the seconds for which the task is not handed out again
   */
  async release(
    by: Reporter,
    report: ReleaseReport,
    also?: (tx: Transaction) => Promise<number>,
  ): Promise<ReportOutcome> {
    const { reason = 'released', message, checkpoint } = await this.secrets.clean(by, report);
    const release = { actor: by.actor, reason, message };
    const ended = await this.endLeasedRun(by, { checkpoint, also }, (task, seconds) =>
      planRelease(task, { ...release, retryAfterSeconds: seconds }, this.retries, Math.random()),
    );
    if (!ended) {
      const is = (s: RunSituation) =>
        also !== undefined || s.run_state === 'RELEASED' || s.ended_past_deadline;
      return this.replay(by, { is, to: 'PENDING' });
    }
    if (ended.status === 'PENDING') this.wakeUps.claims(by.workspaceId, 1);
    else this.wakeUps.coordinator();
    return outcome(by, ended.id, ended.status as TaskStatus, ended.version);
  }

  private get retries(): RetryPolicy {
    return { backoffCapSeconds: this.config.tasks.retryBackoffCapSeconds };
  }

  /** Locks the task of the run, stores its last checkpoint, and applies the plan for it. */
  private async endLeasedRun(
    by: Reporter,
    { checkpoint, also }: { checkpoint: Checkpoint; also?: (tx: Transaction) => Promise<number> },
    plan: (task: LockedTask, retryAfterSeconds: number) => FailurePlan | ReleasePlan,
  ): Promise<{ id: string; status: string; version: number } | undefined> {
    const ending = this.database.tenant(by.workspaceId).transaction(async (tx) => {
      const task = await firstRow(tx, lockLeasedTask, [by.workspaceId, by.runId, by.agentId]);
      if (task && checkpoint.text !== null) await tx.pipeline(stepsOf(by, { checkpoint }, false));
      // Before the plan, which locks budgets last.
      const seconds = (await also?.(tx)) ?? 0;
      const moved = task && (await applyPlans(tx, [plan(task, seconds)]));
      return moved?.at(-1) ?? (task && { id: task.id, status: task.status, version: task.version });
    });
    return this.secrets.writtenAtEnd(by, ending);
  }

  private replay(by: Reporter, replay: Replay): Promise<ReportOutcome> {
    return answerReplay(this.database, by, replay);
  }
}

/** Reports progress together with the original of its checkpoint. */
function stepsOf(
  by: Reporter,
  { checkpoint, ...progress }: Omit<Progress, 'checkpointData'> & { checkpoint: Checkpoint },
  begunOnly: boolean,
) {
  const { progressPercent = null, currentStep = null, estimatedCompletionAt = null } = progress;
  const params = [
    ...runParams(by),
    progressPercent,
    currentStep,
    checkpoint.text,
    estimatedCompletionAt,
    begunOnly,
  ];
  return [
    [reportProgress, params] as const,
    ...writeSecrets(by.workspaceId, checkpoint.originals),
  ] as const;
}
