import type { TaskSweeps } from '#lib/transitions';
import type { Step } from './step.js';

/** Marks runs whose agent has missed two beats as STALE, and takes it back when it beats. */
export function watchLiveness(tasks: TaskSweeps): Step {
  return {
    name: 'watch_liveness',
    sweep: (fence, limit, scope) => tasks.watchLiveness(fence, limit, scope),
  };
}
