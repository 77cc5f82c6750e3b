import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, type ProcessRef, readProcess } from '#lib/runtime';
import { messageOf } from '../log.js';

/** A run as the file remembers it. */
export interface RememberedRun {
  taskId: string;
  leader?: ProcessRef;
}

export interface WorkerState {
  agentId: string;
  /** How often this worker has started before. */
  restartCount: number;
  /** The process that writes the file. */
  owner: ProcessRef;
  runs: Record<string, RememberedRun>;
}

/**
 * What a next life of this worker has to know, in its data folder: written before each run starts,
 * so that whatever ends this process, nothing it began is forgotten. Written through a rename, so
 * that it is whole at every moment; it needs no fsync, because processes do not survive a crash of
 * the machine.
 */
export class StateFile {
  private constructor(
    private readonly path: string,
    private readonly state: WorkerState,
    /** What an earlier life left; empty when it ended in order. */
    readonly leftovers: Readonly<Record<string, RememberedRun>>,
  ) {}

  /**
   * Takes the file over from an earlier life.
   *
   * @throws Error in a sentence when another worker lives on it
   */
  static open(dataDir: string, agentId: string, restarts = 0): StateFile {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const path = join(dataDir, `agent-${agentId}.json`);
    const earlier = readState(path);
    if (earlier !== undefined && earlier.owner.pid !== process.pid && isAlive(earlier.owner)) {
      throw new Error(
        `Process ${earlier.owner.pid} already works with this data folder as the same worker: give this one another DROVER_WORKER_NAME or DROVER_WORKER_DATA_DIR.`,
      );
    }
    const leftovers = earlier?.runs ?? {};
    const owner = { pid: process.pid, startTicks: readProcess(process.pid)?.startTicks ?? 0 };
    const restartCount = earlier === undefined ? restarts : earlier.restartCount + 1;
    const state = { agentId, restartCount, owner, runs: { ...leftovers } };
    const file = new StateFile(path, state, leftovers);
    file.save();
    return file;
  }

  get restartCount(): number {
    return this.state.restartCount;
  }

  addRun(runId: string, taskId: string): void {
    this.state.runs[runId] = { taskId };
    this.save();
  }

  setLeader(runId: string, leader: ProcessRef): void {
    const run = this.state.runs[runId];
    if (run === undefined) return;
    run.leader = leader;
    this.save();
  }

  removeRun(runId: string): void {
    if (!(runId in this.state.runs)) return;
    delete this.state.runs[runId];
    this.save();
  }

  private save(): void {
    writeFileSync(`${this.path}.new`, JSON.stringify(this.state), { mode: 0o600 });
    renameSync(`${this.path}.new`, this.path);
  }
}

function readState(path: string): WorkerState | undefined {
  try {
    return ours(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(
      `The state file ${path} can not be read (${messageOf(error)}): remove it to start afresh.`,
      { cause: error },
    );
  }
}

/** @throws Error for JSON that no worker wrote */
function ours(value: unknown): WorkerState {
  const state = value as Partial<WorkerState> | null;
  const isOurs =
    typeof state?.owner?.pid === 'number' &&
    Number.isInteger(state.restartCount) &&
    typeof state.runs === 'object';
  if (!isOurs) throw new Error('it is not of a worker');
  return state as WorkerState;
}
