import { setTimeout as delay } from 'node:timers/promises';
import { type BackoffPolicy, fullJitter } from '#lib/kernel';
import { askedWaitMs, isTransient, isUnauthenticated, messageOf } from './errors.js';
import type { HostLog } from './log.js';

/** Soon enough that an outage's end is noticed at once, rare enough for many hosts to do it together. */
export const RETRY_BACKOFF: BackoffPolicy = { baseMs: 250, capMs: 5_000 };

/**
 * How long to wait before the next attempt, in milliseconds: full jitter, added to what the server
 * asked for, so that a thousand hosts that were told the same do not return at the same instant.
 */
export function waitBefore(policy: BackoffPolicy, failures: number, error: unknown): number {
  return (askedWaitMs(error) ?? 0) + fullJitter(policy, failures, Math.random());
}

/** Counts the failures in a row of one kind of call, and writes the log of them. */
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

  /** @returns milliseconds before the next attempt */
  add(error: unknown): number {
    this.count += 1;
    this.report(error);
    return waitBefore(this.policy, this.count - 1, error);
  }

  // The first failures and then ever fewer: an hour's outage must not fill the disk with its story.
  private report(error: unknown): void {
    // That a token is refused is true of all calls: the heartbeat says it once.
    if (isUnauthenticated(error) || (this.count & (this.count - 1)) !== 0) return;
    const fields = { what: this.what, failures: this.count, reason: messageOf(error) };
    this.log.warn('the server did not take a call; trying again', fields);
  }
}

export interface RetryOptions {
  log: HostLog;
  policy?: BackoffPolicy;
  /** Ends the waiting; the promise then rejects with the last error. */
  signal?: AbortSignal;
  /** Where nothing renews the token beside it, a refused one is final. */
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
