import pLimit from 'p-limit';
import { hasCode, type Log } from '#lib/agent-host';
import type { OfferedKind } from '#lib/agent-sessions';
import { Redactor } from '#lib/session-runtime';
import { withAcceptance } from '../acceptance/acceptance.js';
import { startAgent } from '../agents/agent-execution.js';
import type { DroverApi } from '../api/drover-api.js';
import type { ClaimedTask, ClaimedTaskBody } from '../api/types.js';
import { type CodeHost, GIT } from '../code/code-host.js';
import { CodeRun } from '../code/code-run.js';
import type { CodeRunParts } from '../code/code-start.js';
import type { WorkerConfig } from '../config.js';
import type { Executor, RunExecution } from '../runs/executor.js';
import { KeptFiles } from '../runs/kept-files.js';
import { Patience } from '../runs/patience.js';
import type { RunResult } from '../runs/run.js';
import { RunFolder } from '../runs/run-folder.js';
import { removeRun } from '../state/leftovers.js';
import { driverOf, type ExecutionOptions, startExecution } from './execution.js';
import type { Job, RunningJob } from './job.js';
import { secretsOf } from './surroundings.js';

/** The maximum number of files that are read and sent at the same time, each of up to 50 MiB. */
const FILES_AT_ONCE = 2;

export interface ProcessExecutorOptions {
  config: WorkerConfig;
  api: DroverApi;
  log: Log;
  execution: Omit<ExecutionOptions, 'learn' | 'code'>;
  /** The means for work on code, if this machine has them. */
  code?: CodeHost;
  /** Finds a kind of coding agent on this machine. */
  offered: (kind: string) => OfferedKind | undefined;
}

/** Executes runs in sessions of this machine: commands, coding agents and work on repositories. */
export class ProcessExecutor implements Executor {
  private readonly keeping = pLimit(FILES_AT_ONCE);

  constructor(private readonly options: ProcessExecutorOptions) {}

  prepare(claimed: ClaimedTask, { log, giveUp }: { log: Log; giveUp: AbortSignal }): RunExecution {
    const { config, api, execution } = this.options;
    const { run, task } = claimed;
    const folder = new RunFolder(config.workDir, run.id);
    const learned: string[] = [];
    const redactor = () => new Redactor([...secretsOf(claimed, execution.passedEnv), ...learned]);
    const isCode = needsGit(task);
    const keeping = { api, runId: run.id, folder, redactor, limit: this.keeping, isCode, log };
    return {
      isCode,
      driverOf: (job) => driverOf(job, execution.drivers).kind,
      start: (job, signal) => this.start(job, { log, redactor, learned, signal }),
      keepFiles: (mostMs, warn) =>
        new KeptFiles({ ...keeping, warn }).send(giveUp, new Patience(mostMs)),
    };
  }

  async settle(runId: string, { end }: RunResult): Promise<void> {
    const { config, execution, log } = this.options;
    const hasFailed = typeof end === 'object' && end.kind === 'fail';
    const isKept = config.keepRuns === 'always' || (config.keepRuns === 'failed' && hasFailed);
    // A restarted worker reads the checkpoint of an undelivered run.
    if (!isKept && end !== 'undelivered') await removeRun(runId, execution.drivers, log);
  }

  private async start(
    claimedJob: Job,
    { log, redactor, learned, signal }: StartParts,
  ): Promise<RunningJob> {
    const { config, api, execution, offered } = this.options;
    const learn = (secrets: readonly string[]) => void learned.push(...secrets);
    const code = await this.openRepository(claimedJob, { log, redactor, learn, signal });
    const job = code?.job ?? claimedJob;
    const starting = job.task.agent
      ? startAgent(job, {
          ...execution,
          code,
          driver: driverOf(job, execution.drivers),
          api,
          offered,
          circles: config.circles,
          log,
          limit: this.keeping,
          learn,
        })
      : startExecution(job, { ...execution, learn, code });
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
  }

  /** @returns undefined for a task without a repository */
  private async openRepository(
    job: Job,
    parts: Omit<CodeRunParts, 'host' | 'api'>,
  ): Promise<CodeRun | undefined> {
    const { code: host, api } = this.options;
    if (!needsGit(job.task) || host === undefined) return undefined;
    try {
      return await CodeRun.open(job, { ...parts, host, api });
    } catch (error) {
      // A task can need git without a repository of Drover.
      if (hasCode(error, 'run_has_no_repository', 'route_not_found')) return undefined;
      throw error;
    }
  }
}

interface StartParts extends Pick<CodeRunParts, 'log' | 'redactor' | 'signal'> {
  /** The secrets that the redactor hides, beside those of the task. */
  learned: string[];
}

function needsGit({
  requiredCapabilities,
}: Pick<ClaimedTaskBody, 'requiredCapabilities'>): boolean {
  return requiredCapabilities?.includes(GIT) === true;
}
