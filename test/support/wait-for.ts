import { setTimeout as delay } from 'node:timers/promises';

/** Ends a wait that never succeeds. The slowest machine needs less time. */
const NEVER_MS = 120_000;

/**
 * Polls until a condition yields a value, for events without a signal.
 *
 * @param what completes "waited in vain for …"
 */
export async function waitFor<T>(
  what: string,
  condition: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  timeoutMs = NEVER_MS,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== null && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`);
    await delay(10);
  }
}
