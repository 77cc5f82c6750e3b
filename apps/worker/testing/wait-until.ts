import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits until a condition becomes true, with repeated looks. It fails with the condition's name.
 */
export async function waitUntil(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) throw new Error(`Waited ${withinMs} ms in vain: ${what}`);
    await delay(20);
  }
}
