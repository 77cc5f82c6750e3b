import type { StateSweeps } from '#lib/transitions';
import type { Rhythm } from './rhythm.js';
import type { Step } from './step.js';

/**
 * Tells of runs that somebody still works on after another one has begun, and tells that one to stop.
 * What has been noticed is told in every cycle; only the look at all agents' beats has a rhythm.
 */
export function detectSplitBrain(states: StateSweeps, rhythm: Rhythm): Step {
  return {
    name: 'detect_split_brain',
    sweep: async (fence, limit, scope) => {
      const told = await states.detectSplitBrain(fence, limit, { ...scope, thorough: false });
      if (told.moved > 0) return told;
      return rhythm.perhaps(scope, (asked) => states.detectSplitBrain(fence, limit, asked));
    },
  };
}
