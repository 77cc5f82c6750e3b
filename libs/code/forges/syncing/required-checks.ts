import { checkUnderWay } from '../domain/index.js';
import type { ForgeChecks } from '../kinds/forge.js';

/** Why required checks keep a commit from the target. */
export interface Unchecked {
  /** A sentence for people. */
  reason: string;
  /** False: the check can still succeed by itself. */
  isFailed: boolean;
}

/** @returns undefined if all required checks are there and succeeded */
export function whyUnchecked(
  required: readonly string[],
  { all, unread }: ForgeChecks,
): Unchecked | undefined {
  for (const name of required) {
    const of = all.filter((check) => check.name === name);
    const failed = of.find(({ state }) => state === 'failure');
    if (failed !== undefined) {
      const words = failed.description === '' ? '' : `: ${failed.description}`;
      return { reason: `The check ${name} failed${words}`, isFailed: true };
    }
    const isUnderWay = of.some(({ state }) => state === 'pending');
    if (of.length > 0 && !isUnderWay) continue;
    if (isUnderWay) return { reason: checkUnderWay(name), isFailed: false };
    const why = unread === undefined ? '' : `. ${unread}`;
    return { reason: `The check ${name} is not reported yet${why}`, isFailed: false };
  }
  return undefined;
}
