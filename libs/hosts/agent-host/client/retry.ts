import { setTimeout as delay } from 'node:timers/promises';
import { type BackoffPolicy, fullJitter } from '#lib/kernel';
import { askedWaitMs, isTransient, isUnauthenticated, messageOf } from './errors.js';
import type { HostLog } from '../machine/log.js';

/** Short enough to notice the end of an outage at once, and long enough for many hosts together. */
export const RETRY_BACKOFF: BackoffPolicy = { baseMs: 250, capMs: 5_000 };

/**
 * The milliseconds before the next attempt: full jitter, added to the wait that the server asks
 * for. With it, a thousand hosts with the same answer do not return at the same instant.
 */
export function waitBefore(policy: BackoffPolicy, failures: number, error: unknown): number {
  return (askedWaitMs(error) ?? 0) + fullJitter(policy, failures, Math.random());
}

/** Counts consecutive failures of one kind of call, and logs them. */
export class Failures {
  private count = 0;

  constructor(
    private readonly what: string,
    private readonly log: HostLog,
    private readonly policy = RETRY_BACKOFF,
  ) {}

  /** The call succeeded. */
  end(): void {
    this.count = 0;
  }

  /**
   * @returns the milliseconds before the next attempt
   */
  add(error: unknown): number {
    this.count += 1;
    this.report(error);
    return waitBefore(this.policy, this.count - 1, error);
  }

  // Logs the first failures and then ever fewer: an outage of an hour must not fill the disk.
  private report(error: unknown): void {
    // A refused token concerns all calls: the heartbeat logs it once.
    if (isUnauthenticated(error) || (this.count & (this.count - 1)) !== 0) return;
    const fields = { what: this.what, failures: this.count, reason: messageOf(error) };
    this.log.warn('Call failed; trying again', fields);
  }
}

export interface RetryOptions {
  log: HostLog;
  policy?: BackoffPolicy;
  /** Ends the wait. The promise then rejects with the last error. */
  signal?: AbortSignal;
  /** If nothing renews the token meanwhile, a refused token is final. */
  giveUpUnauthenticated?: boolean;
}

/**
 * Repeats a call until it succeeds, or fails for a reason that waiting cannot cure. A refused token
 * counts as curable, because it is renewed meanwhile; the heartbeat decides when to give up.
 */
export async function retrying<T>(
  what: string,
  call: () => Promise<T>,
  { policy, log, signal, giveUpUnauthenticated = false }: RetryOptions,
): Promise<T> {
  const failures = new Failures(what, log, policy);
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isCurable = isTransient(error) || (isUnauthenticated(error) && !giveUpUnauthenticated);
      if (!isCurable || isAborted(signal)) throw error;
      await pause(failures.add(error), signal);
      if (isAborted(signal)) throw error;
    }
  }
}

/** Waits, or returns early when aborted. Never rejects. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await delay(Math.max(0, milliseconds), undefined, { signal }).catch(() => undefined);
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
