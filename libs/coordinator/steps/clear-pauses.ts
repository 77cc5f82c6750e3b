import type { TaskParking } from '#lib/task-manager';
import type { Step } from './step.js';

/** Ends pauses whose time is over, and keeps tasks of paused types out of the way of the others. */
export function clearPauses(parking: TaskParking): Step {
  return {
    name: 'clear_pauses',
    acrossWorkspaces: true,
    sweep: (fence, limit) => parking.sweep(fence, limit),
  };
}
