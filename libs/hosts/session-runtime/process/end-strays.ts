import { setTimeout as delay } from 'node:timers/promises';
import type { Strays } from '../drivers/driver.js';
import { killTree, membersOf, type ProcessTree, signalTree } from './process-tree.js';

/** The time for children that outlive the first process to end by themselves. */
const STRAY_GRACE_MS = 2_000;
const POLL_MS = 50;

/**
 * Ends the processes that outlive the first process of a tree: asks them, and kills them after 2 s.
 */
export async function endStrays(tree: ProcessTree): Promise<Strays> {
  const found = signalTree(tree, 'SIGTERM');
  if (found === 0) return { found, gone: true };
  const giveUpAt = performance.now() + STRAY_GRACE_MS;
  while (performance.now() < giveUpAt) {
    await delay(POLL_MS);
    if (membersOf(tree).length === 0) return { found, gone: true };
  }
  return { found, gone: await killTree(tree) };
}
