import type { ClaimedTaskBody } from '../api/types.js';
import { type Executor, SetupError } from './executor.js';

const DEFAULT_KIND = 'process';

export class ExecutorRegistry {
  private readonly byKind: Map<string, Executor>;

  constructor(executors: Executor[]) {
    this.byKind = new Map(executors.map((executor) => [executor.kind, executor]));
  }

  /**
   * `inputContext.kind` decides; without it, an executor named like the task's type; else a process.
   *
   * @throws SetupError when this worker has no executor of that kind
   */
  choose(task: Pick<ClaimedTaskBody, 'taskType' | 'inputContext'>): Executor {
    const named = task.inputContext['kind'];
    const kind = named ?? (this.byKind.has(task.taskType) ? task.taskType : DEFAULT_KIND);
    const executor = typeof kind === 'string' ? this.byKind.get(kind) : undefined;
    if (executor !== undefined) return executor;
    const known = [...this.byKind.keys()].join(', ');
    throw new SetupError(`inputContext.kind must be one of ${known}`);
  }
}
