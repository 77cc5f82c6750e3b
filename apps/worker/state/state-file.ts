import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  type HostedRecord,
  type HostLog,
  SessionMemory,
  takeOver,
  writeJson,
} from '#lib/agent-host';
import { newId } from '#lib/kernel';
import { machineBootId, type ProcessRef } from '#lib/session-runtime';
import type { FinalReport } from '../api/types.js';

/** The facts of a run that the worker stores. */
export interface RunRecord extends HostedRecord {
  taskId: string;
  /** True if its working folder is one of a repository. Absent in records of earlier versions. */
  isCode?: boolean;
  /** The report of its end that the server did not get. */
  report?: FinalReport;
}

/** A process of the worker that registered at the server. */
interface RegisteredLife {
  bootId: string;
  /**
   * The machine and its boot: a copy of the folder on another machine does not know the end of this
   * process.
   */
  machine: string;
}

interface WorkerState {
  agentId: string;
  life?: RegisteredLife;
  /** The number of earlier starts of this worker. */
  restartCount: number;
  /** The process that writes the file. */
  owner: ProcessRef;
  /** The runs by their ids, as earlier versions stored them. */
  runs?: Record<string, { taskId: string }>;
}

const CONFLICT =
  'this data folder as the same worker: ' +
  'give this one another DROVER_WORKER_NAME or DROVER_WORKER_DATA_DIR';

/** The facts for a restarted worker, in its data folder. */
export class StateFile {
  /** The id of this process's registration. */
  readonly bootId = newId();

  private constructor(
    private readonly path: string,
    private readonly state: WorkerState,
    /** The runs of this process, and those of an earlier one that did not end in order. */
    readonly runs: SessionMemory<RunRecord>,
  ) {}

  /**
   * Takes over the facts of an earlier process.
   *
   * @param restarts the number of earlier starts, if the agent has no earlier process
   * @throws Error in a sentence if another living worker owns them
   */
  static open(dataDir: string, agentId: string, log: HostLog, restarts = 0): StateFile {
    const path = join(dataDir, `agent-${agentId}.json`);
    let runsBefore: Record<string, { taskId: string }> = {};
    const state = takeOver<WorkerState>(path, CONFLICT, (earlier) => {
      runsBefore = earlier?.runs ?? {};
      const restartCount = (earlier?.restartCount ?? restarts - 1) + 1;
      return { agentId, restartCount, life: earlier?.life };
    });
    const runs = new SessionMemory<RunRecord>(join(dataDir, `runs-of-${agentId}`), log);
    for (const [runId, { taskId }] of Object.entries(runsBefore)) runs.add(recordOf(runId, taskId));
    return new StateFile(path, state, runs);
  }

  get restartCount(): number {
    return this.state.restartCount;
  }

  /** The boot id of the earlier process on this machine, which has ended. */
  get previousBootId(): string | undefined {
    const { life } = this.state;
    return life?.machine === machine() ? life.bootId : undefined;
  }

  /** The server has registered this process. */
  noteRegistered(): void {
    this.state.life = { bootId: this.bootId, machine: machine() };
    writeJson(this.path, this.state);
  }
}

export function recordOf(
  runId: string,
  taskId: string,
  facts: Partial<Pick<RunRecord, 'timeoutSeconds' | 'graceSeconds' | 'isCode'>> = {},
): RunRecord {
  const { timeoutSeconds = null, graceSeconds = 0, isCode } = facts;
  const nothingYet = { startedAt: null, stopping: null };
  return { id: runId, runId, taskId, timeoutSeconds, graceSeconds, isCode, ...nothingYet };
}

function machine(): string {
  return `${hostname()} ${machineBootId()}`;
}
