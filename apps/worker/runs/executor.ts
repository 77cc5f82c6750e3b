import type { JsonObject, Log } from '#lib/agent-host';
import type { ClaimedTask } from '../api/types.js';
import type { RunRecord } from '../state/state-file.js';
import type { RunParts, RunResult } from './run.js';

/** The parts of a run that depend on the way of its execution. */
export type RunExecution = Pick<RunParts, 'isCode' | 'driverOf' | 'start' | 'keepFiles'>;

/** The way in which a worker executes its runs. */
export interface Executor {
  /** @param context `giveUp`: aborted when nobody may wait for the server any more */
  prepare(claimed: ClaimedTask, context: { log: Log; giveUp: AbortSignal }): RunExecution;
  /** Removes what is left of a run, when its end is reported. Never rejects. */
  settle(runId: string, result: RunResult): Promise<void>;
}

/** The things that an earlier process of a worker left of its runs. */
export interface Remains {
  /** Sends the files of a run. Never rejects. */
  keepFiles(runId: string, record: RunRecord | undefined): Promise<void>;
  /** @returns the checkpoint that the server possibly lacks */
  checkpoint(runId: string): Promise<JsonObject | undefined>;
  /** Never rejects. */
  remove(runId: string): Promise<void>;
}
