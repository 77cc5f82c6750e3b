import pLimit from 'p-limit';
import { causeOf, hasCode, type Log, SessionHost } from '#lib/agent-host';
import { parseTraceparent } from '#lib/kernel';
import { Redactor } from '#lib/session-runtime';
import type { RegisteredAgent } from '../agent/registration.js';
import type {
  ClaimedTask,
  ClaimedTaskBody,
  Heard,
  ProgressReport,
  RunSignal,
  Signals,
} from '../api/types.js';
import type { WorkerConfig } from '../config.js';
import type { OfferedKind } from '#lib/agent-sessions';
import { withAcceptance } from '../acceptance/acceptance.js';
import { type CodeHost, GIT } from '../code/code-host.js';
import { CodeRun } from '../code/code-run.js';
import type { CodeRunParts } from '../code/code-start.js';
import type { Job } from '../execution/job.js';
import { startAgent } from '../agents/agent-execution.js';
import { driverOf, type ExecutionOptions, startExecution } from '../execution/execution.js';
import { secretsOf } from '../execution/surroundings.js';
import { removeRun } from '../state/leftovers.js';
import type { DiskSpace } from './disk-space.js';
import { type NextClaims, Reporter } from './reporter.js';
import { KeptFiles } from './kept-files.js';
import { Patience } from './patience.js';
import { Run, type RunResult } from './run.js';
import { RunFolder } from './run-folder.js';
import { sessionTime } from './session-time.js';
import type { UsageOutbox } from './usage-outbox.js';

/** The maximum number of files that are read and sent at the same time, each of up to 50 MiB. */
const FILES_AT_ONCE = 2;

/** This worker as an agent of the server, with its state on disk. */
export interface RegisteredWorker extends RegisteredAgent {
  usage: UsageOutbox;
}

export interface RunsOptions {
  config: WorkerConfig;
  registered: RegisteredWorker;
  disk: DiskSpace;
  log: Log;
  /** The API's address for a new session. */
  apiUrl: () => string;
  execution: ExecutionOptions;
  /** The means for work on code, if this machine has them. */
  code?: CodeHost;
  /** Finds a kind of coding agent on this machine. */
  offered: (kind: string) => OfferedKind | undefined;
  giveUp: AbortSignal;
  claims: NextClaims;
  onChange: () => void;
}

function needsGit({
  requiredCapabilities,
}: Pick<ClaimedTaskBody, 'requiredCapabilities'>): boolean {
  return requiredCapabilities?.includes(GIT) === true;
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
  private readonly keeping = pLimit(FILES_AT_ONCE);

  constructor(private readonly options: RunsOptions) {
    this.host = new SessionHost(options.onChange);
  }

  /** Holds the run until it has ended and is cleaned up. Never rejects. */
  execute(task: ClaimedTask): Promise<RunResult> {
    const run = this.make(task);
    return this.host.hold(run, async () => {
      const result = await run.execute();
      this.hasUndelivered ||= result.end === 'undelivered';
      await this.cleanUp(run.id, result);
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
    else run.lose(graceMs);
  }

  private make(claimed: ClaimedTask): Run {
    const { config, registered, disk, execution, offered, giveUp, claims } = this.options;
    const { run, task } = claimed;
    const traceId = parseTraceparent(run.traceparent)?.traceId;
    const log = this.options.log.with({ runId: run.id, taskId: task.id, traceId });
    const folder = new RunFolder(config.workDir, run.id);
    const learned: string[] = [];
    const redactor = () => new Redactor([...secretsOf(claimed, execution.passedEnv), ...learned]);
    const { api } = registered;
    const isCode = needsGit(task);
    const keeping = { api, runId: run.id, folder, redactor, limit: this.keeping, isCode, log };
    return new Run(claimed, {
      reporter: new Reporter(registered.api, run.id, log),
      usage: registered.usage,
      folder,
      disk,
      memory: registered.state.runs,
      log,
      apiUrl: this.options.apiUrl(),
      timeoutSeconds: sessionTime(task.timeoutSeconds, config),
      graceSeconds: config.graceSeconds,
      isCode,
      logBytes: config.logBytesPerRun,
      driverOf: (job) => driverOf(job, execution.drivers).kind,
      start: async (claimedJob) => {
        const code = await this.openRepository(claimedJob, { log, redactor });
        const job = code?.job ?? claimedJob;
        learned.push(...Object.values(job.task.secrets ?? {}));
        const starting = job.task.agent
          ? startAgent(job, {
              ...execution,
              code,
              driver: driverOf(job, execution.drivers),
              api: registered.api,
              offered,
              circles: config.circles,
              log,
              limit: this.keeping,
              learn: (secrets) => void learned.push(...secrets),
            })
          : startExecution(job, { ...execution, code });
        if (code === undefined) {
          const driver = driverOf(job, execution.drivers);
          const { workspaceId } = execution;
          const parts = { driver, scripts: config.code.scripts, workspaceId, redactor };
          return withAcceptance(job, await starting, parts);
        }
        return starting.then(
          (running) => code.around(running),
          async (error: unknown) => {
            await code.close();
            throw error;
          },
        );
      },
      giveUp,
      claims,
      keepFiles: (mostMs, warn) =>
        new KeptFiles({ ...keeping, warn }).send(giveUp, new Patience(mostMs)),
    });
  }

  /** @returns undefined for a task without a repository */
  private async openRepository(
    job: Job,
    parts: Pick<CodeRunParts, 'log' | 'redactor'>,
  ): Promise<CodeRun | undefined> {
    const { code: host, registered } = this.options;
    if (!needsGit(job.task) || host === undefined) return undefined;
    try {
      return await CodeRun.open(job, { ...parts, host, api: registered.api });
    } catch (error) {
      // A task can need git without a repository of Drover.
      if (hasCode(error, 'run_has_no_repository', 'route_not_found')) return undefined;
      throw error;
    }
  }

  private async cleanUp(runId: string, { end }: RunResult): Promise<void> {
    const { config, execution, log } = this.options;
    const hasFailed = typeof end === 'object' && end.kind === 'fail';
    const isKept = config.keepRuns === 'always' || (config.keepRuns === 'failed' && hasFailed);
    // A restarted worker reads the checkpoint of an undelivered run.
    if (!isKept && end !== 'undelivered') await removeRun(runId, execution.drivers, log);
  }
}
