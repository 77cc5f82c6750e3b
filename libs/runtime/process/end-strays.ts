import { setTimeout as delay } from 'node:timers/promises';
import { killTree, membersOf, type ProcessTree, signalTree } from './process-tree.js';

/** What children that outlive the first process get to end by themselves. */
const STRAY_GRACE_MS = 2_000;
const POLL_MS = 50;

export interface Strays {
  /** How many processes outlived the first one. */
  found: number;
  /** False when the kernel does not let one go. */
  gone: boolean;
}

/**
 * Ends what outlives the first process of a tree: asks it, and kills it after two seconds.
 *
 * @param forceAt a time of `performance.now()` at which to kill at once; looked at again and again
 */
export async function endStrays(
  tree: ProcessTree,
  forceAt: () => number = () => Infinity,
): Promise<Strays> {
  const found = signalTree(tree, 'SIGTERM');
  if (found === 0) return { found, gone: true };
  const giveUpAt = performance.now() + STRAY_GRACE_MS;
  while (performance.now() < Math.min(giveUpAt, forceAt())) {
    await delay(POLL_MS);
    if (membersOf(tree).length === 0) return { found, gone: true };
  }
  return { found, gone: await killTree(tree) };
}
