import { hostname } from 'node:os';
import { join } from 'node:path';
import { takeOver, writeJson } from '#lib/agent-host';
import { newId } from '#lib/kernel';
import { machineBootId, type ProcessRef } from '#lib/session-runtime';

/** A run as the file remembers it. */
export interface RememberedRun {
  taskId: string;
  /** Only in files of earlier versions: the first process of the run. */
  leader?: ProcessRef;
}

/** A life of the worker that the server has taken in. */
interface RegisteredLife {
  bootId: string;
  /** The machine and its start: a copy of the folder on another one does not know that this life is over. */
  machine: string;
}

export interface WorkerState {
  agentId: string;
  life?: RegisteredLife;
  /** How often this worker has started before. */
  restartCount: number;
  /** The process that writes the file. */
  owner: ProcessRef;
  runs: Record<string, RememberedRun>;
}

const CONFLICT =
  'this data folder as the same worker: give this one another DROVER_WORKER_NAME or DROVER_WORKER_DATA_DIR';

/**
 * The facts for a next life of this worker, in its data folder: written before each run starts,
 * so that whatever ends this process, nothing it began is forgotten.
 */
export class StateFile {
  /** The runs that an earlier life left; empty when it ended in order. */
  readonly leftovers: Readonly<Record<string, RememberedRun>>;
  /** Of this process. */
  readonly bootId = newId();

  private constructor(
    private readonly path: string,
    private readonly state: WorkerState,
  ) {
    this.leftovers = { ...state.runs };
  }

  /**
   * Takes the file over from an earlier life.
   *
   * @param restarts how often the worker has started before, where there is no earlier life of the agent
   * @throws Error in a sentence when another worker lives on it
   */
  static open(dataDir: string, agentId: string, restarts = 0): StateFile {
    const path = join(dataDir, `agent-${agentId}.json`);
    const state = takeOver<WorkerState>(path, CONFLICT, (earlier) => ({
      agentId,
      restartCount: (earlier?.restartCount ?? restarts - 1) + 1,
      runs: earlier?.runs ?? {},
      life: earlier?.life,
    }));
    return new StateFile(path, state);
  }

  get restartCount(): number {
    return this.state.restartCount;
  }

  /** The life that ended before this one began, on this machine. */
  get previousBootId(): string | undefined {
    const { life } = this.state;
    return life?.machine === machine() ? life.bootId : undefined;
  }

  /** The server has taken this life in. */
  noteRegistered(): void {
    this.state.life = { bootId: this.bootId, machine: machine() };
    writeJson(this.path, this.state);
  }

  addRun(runId: string, taskId: string): void {
    this.state.runs[runId] = { taskId };
    writeJson(this.path, this.state);
  }

  removeRun(runId: string): void {
    if (!(runId in this.state.runs)) return;
    delete this.state.runs[runId];
    writeJson(this.path, this.state);
  }
}

function machine(): string {
  return `${hostname()} ${machineBootId()}`;
}
