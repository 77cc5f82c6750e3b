import type { ForgeFinding, Merge } from './forge.js';

/**
 * Says if the forge can merge with a method where Drover cannot push.
 *
 * @param options `isAllowed`: undefined if the forge does not tell
 */
export function methodFinding(
  method: Merge['method'],
  { isNeeded, isAllowed = true }: { isNeeded: boolean; isAllowed?: boolean },
): ForgeFinding {
  const about = 'merge method' as const;
  if (isAllowed) return { about, isFine: true, message: `The forge can merge with ${method}` };
  const message = isNeeded
    ? `The forge does not merge with ${method}: allow it there, or let Drover push to the branch`
    : `The forge does not merge with ${method}, and need not: Drover pushes to the branch`;
  return { about, isFine: !isNeeded, message };
}
