import { setTimeout as delay } from 'node:timers/promises';
import { type BackoffPolicy, fullJitter } from '#lib/kernel';
import { type Log, messageOf } from '../log.js';
import { ApiError, isTransient, isUnauthenticated } from './errors.js';

/** Soon enough that an outage's end is noticed at once, rare enough for a fleet to do it together. */
export const RETRY_BACKOFF: BackoffPolicy = { baseMs: 250, capMs: 5_000 };

/**
 * How long to wait before the next attempt, in milliseconds: full jitter, added to what the server
 * asked for, so that a thousand workers that were told the same do not return at the same instant.
 */
export function waitBefore(policy: BackoffPolicy, failures: number, error: unknown): number {
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return asked + fullJitter(policy, failures, Math.random());
}

export interface RetryOptions {
  policy: BackoffPolicy;
  log: Log;
  /** Ends the waiting; the promise then rejects with the last error. */
  signal?: AbortSignal;
  /** Where nobody renews the token beside it, a refused one is final. */
  giveUpUnauthenticated?: boolean;
}

/**
 * Repeats a call until it succeeds or fails for a reason that waiting does not cure. Tokens that are
 * refused count as curable, because they are renewed beside it; the heartbeat decides when to give up.
 */
export async function retrying<T>(
  what: string,
  call: () => Promise<T>,
  { policy, log, signal, giveUpUnauthenticated = false }: RetryOptions,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      const curable = isTransient(error) || (isUnauthenticated(error) && !giveUpUnauthenticated);
      if (!curable) throw error;
      if (signal?.aborted === true) throw error;
      logFailure(log, what, failures + 1, error);
      await pause(waitBefore(policy, failures, error), signal);
      if (isAborted(signal)) throw error;
    }
  }
}

/** Waits, or returns early when aborted. Never rejects. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

// The first failures and then ever fewer: an hour's outage must not fill the disk with its story.
export function logFailure(log: Log, what: string, failures: number, error: unknown): void {
  if ((failures & (failures - 1)) !== 0) return;
  log.warn(`${what} failed; trying again`, { failures, error: messageOf(error) });
}
