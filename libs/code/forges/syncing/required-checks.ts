import type { ForgeCheck } from '../kinds/forge.js';

/**
 * The reason why the required checks of a commit keep it from the target, in a sentence. Undefined
 * if all are there and succeeded.
 */
export function whyUnchecked(
  required: readonly string[],
  checks: readonly ForgeCheck[],
): string | undefined {
  for (const name of required) {
    const of = checks.filter((check) => check.name === name);
    const failed = of.find(({ state }) => state === 'failure');
    if (failed !== undefined) {
      return `The check ${name} failed${failed.description && `: ${failed.description}`}`;
    }
    if (of.length === 0) return `The check ${name} is not reported yet`;
    if (of.some(({ state }) => state === 'pending')) return `The check ${name} is under way`;
  }
  return undefined;
}
