import { setTimeout as delay } from 'node:timers/promises';
import { type BackoffPolicy, fullJitter } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import { ServerError, TokenRefused } from './server-client.js';

/** Soon enough that an outage's end is noticed at once, rare enough not to disturb it. */
const BACKOFF: BackoffPolicy = { baseMs: 250, capMs: 15_000 };

/**
 * Milliseconds before the next attempt: full jitter, added to what the server asked for, so that
 * gateways that were told the same do not return at the same instant.
 *
 * @param failures in a row, from 1
 */
export function waitBefore(failures: number, error: unknown): number {
  const asked = error instanceof ServerError ? error.retryAfterMs : 0;
  return asked + fullJitter(BACKOFF, failures - 1, Math.random());
}

/** Waits, or returns early when aborted. Never rejects. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}

// The first failures and then ever fewer: an hour's outage must not fill the disk with its story.
export function logFailure(logger: Logger, what: string, failures: number, error: unknown): void {
  // What the heartbeats say once is true of all calls.
  if (error instanceof TokenRefused) return;
  if ((failures & (failures - 1)) !== 0) return;
  const reason = error instanceof Error ? error.message : String(error);
  logger.warn('the server did not take a call; trying again', { what, failures, reason });
}
