import type { TaskSweeps } from '#lib/transitions';
import type { Step } from './step.js';

/** Tells the dependents of tasks that have ended: releases the ready, fails those whose policy says so. */
export function settleDependents(tasks: TaskSweeps): Step {
  return {
    name: 'settle_dependents',
    sweep: (fence, limit, scope) => tasks.settleDependents(fence, limit, scope),
  };
}
