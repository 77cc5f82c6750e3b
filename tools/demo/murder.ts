import type { Fleet, Worker } from './fleet.js';
import type { Task } from './follow.js';
import { KILL_AT_PERCENT } from './settings.js';

export interface Killed {
  worker: Worker;
  /** The time of the kill by this machine's clock, which is also the database's. */
  at: Date;
  progressPercent: number;
}

/** Kills the worker of one task with SIGKILL once, in the middle of the task. */
export class Murder {
  killed: Killed | undefined;

  constructor(
    private readonly fleet: Fleet,
    private readonly taskId: string,
  ) {}

  consider(tasks: readonly Task[]): Killed | undefined {
    const task = tasks.find(({ id }) => id === this.taskId);
    if (this.killed !== undefined || task?.status !== 'RUNNING') return undefined;
    const { progressPercent, checkpointData } = task;
    const inTheMiddle = progressPercent >= KILL_AT_PERCENT && Number(checkpointData?.['done']) > 0;
    const worker = this.fleet.byAgent(task.agentId);
    if (!inTheMiddle || worker === undefined) return undefined;
    process.kill(worker.process.pid, 'SIGKILL');
    this.killed = { worker, at: new Date(), progressPercent };
    return this.killed;
  }
}
