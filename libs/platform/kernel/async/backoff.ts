export interface BackoffPolicy {
  /** Milliseconds before the first retry, without jitter. */
  baseMs: number;
  /** Maximum delay, in milliseconds. */
  capMs: number;
}

/**
 * Exponential backoff with full jitter: uniform in [0, min(cap, base * 2^attempt)), in
 * milliseconds.
 *
 * Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 *
 * @param attempt number of failed attempts, from 0
 * @param random a number in [0, 1)
 */
export function fullJitter(policy: BackoffPolicy, attempt: number, random: number): number {
  return Math.floor(backoffCeiling(policy, attempt) * random);
}

/** The same without jitter: min(cap, base * 2^attempt), in milliseconds. */
export function backoffCeiling(policy: BackoffPolicy, attempt: number): number {
  // 2^attempt overflows to Infinity, which min() caps; 0 * Infinity would be NaN.
  return policy.baseMs === 0 ? 0 : Math.min(policy.capMs, policy.baseMs * 2 ** attempt);
}
