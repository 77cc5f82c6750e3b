import type { Log } from '#lib/agent-host';
import { parseTraceparent } from '#lib/kernel';
import type { DroverApi } from '../api/drover-api.js';
import type { ClaimedTask } from '../api/types.js';
import type { WorkerConfig } from '../config.js';
import { type ExecutionOptions, startExecution } from '../execution/execution.js';
import { removeRun } from '../state/leftovers.js';
import type { StateFile } from '../state/state-file.js';
import { type NextClaims, Reporter } from './reporter.js';
import { Run, type RunResult } from './run.js';
import { RunFolder } from './run-folder.js';
import type { UsageOutbox } from './usage-outbox.js';

/** This worker as the server knows it, with what it keeps between its lives. */
export interface Member {
  api: DroverApi;
  state: StateFile;
  usage: UsageOutbox;
}

export interface RunFactoryOptions {
  config: WorkerConfig;
  membership: Member;
  log: Log;
  execution: ExecutionOptions;
  giveUp: AbortSignal;
  claims: NextClaims;
}

export interface RunFactory {
  make: (claimed: ClaimedTask) => Run;
  cleanUp: (runId: string, result: RunResult) => Promise<void>;
}

/** Gives each run what it needs, and takes away what it leaves. */
export function runFactory(options: RunFactoryOptions): RunFactory {
  const { config, membership, execution, giveUp, claims } = options;
  return {
    make: (claimed) => {
      const { run, task } = claimed;
      const traceId = parseTraceparent(run.traceparent)?.traceId;
      const log = options.log.with({ runId: run.id, taskId: task.id, traceId });
      const reporter = new Reporter(membership.api, run.id, log);
      const folder = new RunFolder(config.workDir, run.id);
      return new Run(claimed, {
        reporter,
        usage: membership.usage,
        folder,
        state: membership.state,
        log,
        apiUrl: config.apiUrl,
        graceMs: config.graceSeconds * 1000,
        logBytes: config.logBytesPerRun,
        start: (job) => startExecution(job, execution),
        giveUp,
        claims,
      });
    },
    cleanUp: async (runId, result) => {
      if (isKept(config.keepRuns, result)) return;
      await removeRun(runId, execution.drivers, options.log);
    },
  };
}

function isKept(keepRuns: WorkerConfig['keepRuns'], { end }: RunResult): boolean {
  // The report that waits for the next life lies in the folder.
  if (end === 'undelivered' || keepRuns === 'always') return true;
  return keepRuns === 'failed' && typeof end === 'object' && end.kind === 'fail';
}
