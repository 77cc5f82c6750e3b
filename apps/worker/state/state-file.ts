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
import type { ClaimedTask, FinalReport } from '../api/types.js';

/** A run as the worker remembers it. */
export interface RunRecord extends HostedRecord {
  taskId: string;
  /** Its end, where the server could not be told of it. */
  report?: FinalReport;
}

/** The life of a worker that the server has registered. */
interface RegisteredLife {
  bootId: string;
  /** The machine and its start: a copy of the folder on another one does not know that this life is over. */
  machine: string;
}

interface WorkerState {
  agentId: string;
  life?: RegisteredLife;
  /** How often this worker has started before. */
  restartCount: number;
  /** The process that writes the file. */
  owner: ProcessRef;
  /** Runs by their ids, where earlier versions remembered them. */
  runs?: Record<string, { taskId: string }>;
}

const CONFLICT =
  'this data folder as the same worker: give this one another DROVER_WORKER_NAME or DROVER_WORKER_DATA_DIR';

/** The facts for a next life of this worker, in its data folder. */
export class StateFile {
  /** Of this process. */
  readonly bootId = newId();

  private constructor(
    private readonly path: string,
    private readonly state: WorkerState,
    /** The runs: those of the life before, where that did not end in order, then those of this one. */
    readonly runs: SessionMemory<RunRecord>,
  ) {}

  /**
   * Takes the facts over from an earlier life.
   *
   * @param restarts how often the worker has started before, where there is no earlier life of the agent
   * @throws Error in a sentence when another worker lives on them
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

  /** The life that ended before this one began, on this machine. */
  get previousBootId(): string | undefined {
    const { life } = this.state;
    return life?.machine === machine() ? life.bootId : undefined;
  }

  /** The server has registered this life. */
  noteRegistered(): void {
    this.state.life = { bootId: this.bootId, machine: machine() };
    writeJson(this.path, this.state);
  }
}

export function recordOf(
  runId: string,
  taskId: string,
  limits: { timeoutSeconds?: ClaimedTask['task']['timeoutSeconds']; graceSeconds?: number } = {},
): RunRecord {
  const { timeoutSeconds = null, graceSeconds = 0 } = limits;
  const nothingYet = { startedAt: null, stopping: null };
  return { id: runId, runId, taskId, timeoutSeconds, graceSeconds, ...nothingYet };
}

function machine(): string {
  return `${hostname()} ${machineBootId()}`;
}
