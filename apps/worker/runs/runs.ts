import { causeOf, type Log, SessionHost } from '#lib/agent-host';
import { parseTraceparent } from '#lib/kernel';
import type { RegisteredAgent } from '../agent/registration.js';
import type { ClaimedTask, Heard, ProgressReport, RunSignal, Signals } from '../api/types.js';
import type { WorkerConfig } from '../config.js';
import type { DiskSpace } from './disk-space.js';
import type { Executor } from './executor.js';
import { type NextClaims, Reporter } from './reporter.js';
import { Run, type RunResult } from './run.js';
import { RunFolder } from './run-folder.js';
import { sessionTime } from './session-time.js';
import type { UsageOutbox } from './usage-outbox.js';

/** This worker as an agent of the server, with its state on disk. */
export interface RegisteredWorker extends RegisteredAgent {
  usage: UsageOutbox;
}

export interface RunsOptions {
  config: WorkerConfig;
  registered: RegisteredWorker;
  executor: Executor;
  disk: DiskSpace;
  log: Log;
  /** The API's address for a new session. */
  apiUrl: () => string;
  giveUp: AbortSignal;
  claims: NextClaims;
  onChange: () => void;
}

/** The held runs, for the heartbeat. */
export interface RunSummary {
  count: number;
  oldest:
    | (Pick<Run, 'id' | 'taskId' | 'taskTitle' | 'claimedAt'> & { latest: ProgressReport })
    | undefined;
}

/** All runs that this worker holds. Claims feed it. */
export class Runs {
  /** True if the report of a run's end is left for a restarted worker. */
  hasUndelivered = false;
  private readonly host: SessionHost<Run>;

  constructor(private readonly options: RunsOptions) {
    this.host = new SessionHost(options.onChange);
  }

  /** Holds the run until it has ended and is cleaned up. Never rejects. */
  execute(task: ClaimedTask): Promise<RunResult> {
    const run = this.make(task);
    return this.host.hold(run, async () => {
      const result = await run.execute();
      this.hasUndelivered ||= result.end === 'undelivered';
      await this.options.executor.settle(run.id, result);
      return result;
    });
  }

  holds(runId: string): boolean {
    return this.host.find(runId) !== undefined;
  }

  /** The runs that need signals: not the lost runs, and not those with an end to report. */
  runIds(): string[] {
    return this.host.all().flatMap(({ id, wantsSignals }) => (wantsSignals ? [id] : []));
  }

  /** The last messages of the runs that hear messages. */
  heard(): Heard[] {
    return this.host.all().flatMap(({ heard }) => heard ?? []);
  }

  follow({ runs, messages }: Signals): void {
    const pausing = new Set(runs.flatMap(({ runId, afterTurn }) => (afterTurn ? [runId] : [])));
    // A pause that an answer lacks is withdrawn.
    for (const run of this.host.all()) run.pauseAfterTurn(pausing.has(run.id));
    for (const signal of runs) {
      const run = this.host.find(signal.runId);
      if (run?.wantsSignals === true) this.followOne(run, signal);
    }
    for (const message of messages) {
      const { runId, position } = message;
      this.options.log.info('Message to a run received', { runId, position });
      this.host.find(runId)?.hear(message);
    }
  }

  /**
   * Stops every held run, and every run that comes later: a task from a late answer is released
   * unstarted.
   */
  drain(graceMs: number): void {
    this.host.stopAll({ kind: 'drain', reason: 'drain' }, graceMs);
  }

  loseAll(graceMs: number): void {
    for (const run of this.host.all()) run.lose(graceMs);
  }

  untilIdle(): Promise<void> {
    return this.host.untilIdle();
  }

  summary(): RunSummary {
    const [oldest] = this.host.all().sort((a, b) => a.claimedAt - b.claimedAt);
    return { count: this.host.size, oldest };
  }

  private followOne(run: Run, signal: RunSignal): void {
    const { runId, action, reason, graceSeconds, afterTurn } = signal;
    if (action === 'warn') return run.warn(reason);
    if (afterTurn) return;
    const graceMs = graceSeconds * 1000;
    this.options.log.info('Run stop requested by the server', { runId, action, reason });
    if (action === 'pause') run.stop(causeOf({ action, reason }), graceMs);
    // The server's clock was ahead of the run's own timer. The timeout must still be reported.
    else if (reason === 'timeout') run.stop({ kind: 'timeout', reason }, graceMs);
    else run.lose(graceMs, causeOf({ action, reason }));
  }

  private make(claimed: ClaimedTask): Run {
    const { config, registered, disk, executor, giveUp, claims } = this.options;
    const { run, task } = claimed;
    const traceId = parseTraceparent(run.traceparent)?.traceId;
    const log = this.options.log.with({ runId: run.id, taskId: task.id, traceId });
    return new Run(claimed, {
      ...executor.prepare(claimed, { log, giveUp }),
      reporter: new Reporter(registered.api, run.id, log),
      usage: registered.usage,
      folder: new RunFolder(config.workDir, run.id),
      disk,
      memory: registered.state.runs,
      log,
      apiUrl: this.options.apiUrl(),
      timeoutSeconds: sessionTime(task.timeoutSeconds, config),
      graceSeconds: config.graceSeconds,
      logBytes: config.logBytesPerRun,
      giveUp,
      claims,
    });
  }
}
