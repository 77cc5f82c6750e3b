/** A limit: attempts in a window that begins with the first of them. */
export interface RateLimit {
  attempts: number;
  windowSeconds: number;
}

export type RateDecision = { allowed: true } | { allowed: false; retryAfterSeconds: number };

/** Counts attempts by a key. */
export interface RateLimiter {
  /** Counts one attempt and says whether it is within the limit. */
  take(key: string, limit: RateLimit): Promise<RateDecision>;
}

export const RATE_LIMITER = Symbol('RATE_LIMITER');

/** The decision for an attempt that is the `count`th in a window with `remainingMs` left. */
export function decide(count: number, remainingMs: number, limit: RateLimit): RateDecision {
  if (count <= limit.attempts) return { allowed: true };
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(remainingMs / 1000)) };
}
