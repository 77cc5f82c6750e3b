import { fullJitter } from '#lib/kernel';
import type { AbortReason } from './task-state.js';

/** How a run failed, as its agent saw it. */
export const FAILURE_CLASSES = [
  'oom',
  'disk',
  'timeout',
  'exit_code',
  'signal',
  'infrastructure',
  'setup',
  'stuck',
  'acceptance_failed',
  // Ends of a coding agent that the end of its process does not tell.
  'refused',
  'denied',
  'context_full',
  'turn_limit',
  'crash',
  'unknown',
] as const;

export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** The same, and what the coordinator saw: no session ever started. */
export type RunFailure = FailureClass | 'spawn_failed';

export interface Attempts {
  retryCount: number;
  maxRetries: number;
  retryBackoffSeconds: number;
  /**
   * The latest runs of a coding agent that failed without progress, this one included. Undefined
   * for tasks without one.
   */
  fruitless?: number;
}

/** Maximum delay of a retry that continues the work of a coding agent, in seconds. */
const CONTINUATION_SECONDS = 2;

export interface RetryPolicy {
  /** Maximum delay of a retry, in seconds. */
  backoffCapSeconds: number;
}

export type AfterFailure =
  | { kind: 'retry'; delaySeconds: number }
  | { kind: 'fail'; reason: 'not_retryable' | 'retries_exhausted' };

/** Failures that a retry would repeat. */
const LASTING: readonly AbortReason[] = ['setup', 'refused', 'denied', 'turn_limit'];

/** The agent's own judgement overrides the class. */
export function isRetryable(failure: AbortReason, saidByAgent?: boolean): boolean {
  return saidByAgent ?? !LASTING.includes(failure);
}

/**
 * Decides the consequence of a failed run.
 *
 * The delay is uniform between zero and min(cap, backoff * 2^retryCount) seconds (full jitter), so
 * that tasks that died together do not return together. A coding agent goes on within 2 s after
 * progress and after its first failure without; only further failures without progress back off.
 *
 * @param random a number in [0, 1)
 */
export function afterFailure(
  attempts: Attempts,
  retryable: boolean,
  policy: RetryPolicy,
  random: number,
): AfterFailure {
  if (!retryable) return { kind: 'fail', reason: 'not_retryable' };
  if (attempts.retryCount >= attempts.maxRetries)
    return { kind: 'fail', reason: 'retries_exhausted' };
  return { kind: 'retry', delaySeconds: retryDelaySeconds(attempts, policy, random) };
}

/** The last error of a task without retries left. Fingerprints of failures contain it. */
export function exhaustedError(
  last: Pick<Attempts, 'retryCount' | 'maxRetries'> & { message: string },
) {
  return `Max retries exceeded (${last.retryCount}/${last.maxRetries}): ${last.message}`;
}

/** The last error of a task without the count of its retries. */
export function errorAlone(lastError: string): string {
  return lastError.replace(/^Max retries exceeded \(\d+\/\d+\): /, '');
}

function retryDelaySeconds(attempts: Attempts, policy: RetryPolicy, random: number): number {
  const { retryBackoffSeconds, retryCount, fruitless = retryCount + 2 } = attempts;
  const seconds =
    fruitless < 2 ? Math.min(retryBackoffSeconds, CONTINUATION_SECONDS) : retryBackoffSeconds;
  const backoff = { baseMs: seconds * 1000, capMs: policy.backoffCapSeconds * 1000 };
  return fullJitter(backoff, Math.max(0, fruitless - 2), random) / 1000;
}
