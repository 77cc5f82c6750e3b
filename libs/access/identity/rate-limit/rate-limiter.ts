import { LRUCache } from 'lru-cache';

/** A limit: attempts in a window that begins with the first of them. */
export interface RateLimit {
  attempts: number;
  windowSeconds: number;
}

export interface RateDecision {
  allowed: boolean;
  /** Attempts left in the window. */
  remaining: number;
  /** Until the next window begins; at least 1. */
  resetSeconds: number;
}

/** A count that all servers share, and the time that is left of its window. */
export interface SharedCount {
  count: number;
  leftMs: number;
}

export interface SharedCounts {
  /**
   * Adds to the count of a key, in one round trip.
   *
   * @param leftMs of the window that begins where the key has none
   * @throws Error when it cannot be reached
   */
  add(key: string, attempts: number, leftMs: number): Promise<SharedCount>;
}

/** Attempts by one key, as far as this server knows of them. */
interface Window {
  count: number;
  /** Those of `count` that the other servers do not know of. */
  untold: number;
  endsAt: number;
  telling: boolean;
}

export interface RateLimiterOptions {
  /** Left out: this server counts alone. */
  shared?: SharedCounts;
  /** The shared counts failed, for the first time since they worked. */
  onOutage?: (error: unknown) => void;
  /** Milliseconds of a clock that only goes forward. */
  now?: () => number;
}

/** `count` tells the others each time that it has counted such a part of the limit. */
export const SLICES = 20;

/**
 * Counts attempts by a key in this process, for up to 50,000 keys (a flood of keys pushes the oldest out), and in the
 * place that all servers share. While that cannot be reached each server bounds what comes to it: nothing is refused
 * for its sake.
 */
export class RateLimiter {
  private readonly windows = new LRUCache<string, Window>({ max: 50_000 });
  private readonly shared: SharedCounts | undefined;
  private readonly onOutage: (error: unknown) => void;
  private readonly now: () => number;
  private isAlone = false;

  constructor({ shared, onOutage, now }: RateLimiterOptions = {}) {
    this.shared = shared;
    this.onOutage = onOutage ?? (() => undefined);
    this.now = now ?? (() => performance.now());
  }

  /** Counts one attempt, exactly: waits for the shared count. Both it and this server's own must allow. */
  async take(key: string, limit: RateLimit): Promise<RateDecision> {
    const now = this.now();
    const { count, endsAt } = this.addOne(key, limit, now);
    const decision = decide(count, endsAt - now, limit);
    if (!decision.allowed || this.shared === undefined) return decision;
    const shared = await this.tell(key, 1, limit.windowSeconds * 1000);
    return shared === undefined ? decision : decide(shared.count, shared.leftMs, limit);
  }

  /**
   * Counts one attempt and decides at once, by what this server knows. It tells and hears of the others whenever it
   * has counted a slice of the limit, in the background: n servers together allow a slice each more than the limit,
   * and what arrives while they are told.
   */
  count(key: string, limit: RateLimit): RateDecision {
    const now = this.now();
    const window = this.addOne(key, limit, now);
    window.untold++;
    const isSlice = window.untold >= Math.ceil(limit.attempts / SLICES);
    if (isSlice && !window.telling && window.count <= limit.attempts) {
      void this.exchange(key, window, window.endsAt - now);
    }
    return decide(window.count, window.endsAt - now, limit);
  }

  private addOne(key: string, limit: RateLimit, now: number): Window {
    const known = this.windows.get(key);
    if (known === undefined) {
      const endsAt = now + limit.windowSeconds * 1000;
      const window = { count: 1, untold: 0, endsAt, telling: false };
      this.windows.set(key, window);
      return window;
    }
    if (known.endsAt <= now) {
      known.count = 0;
      known.untold = 0;
      known.endsAt = now + limit.windowSeconds * 1000;
    }
    known.count++;
    return known;
  }

  private async exchange(key: string, window: Window, leftMs: number): Promise<void> {
    if (this.shared === undefined) return;
    window.telling = true;
    const { untold: told, endsAt } = window;
    // Also when it fails: it may have been counted, and counting it twice would refuse what is allowed.
    window.untold = 0;
    const shared = await this.tell(key, told, leftMs);
    window.telling = false;
    // The answer may come in the next window, of which it knows nothing.
    if (shared === undefined || window.endsAt !== endsAt) return;
    const count = shared.count + window.untold;
    // It was flushed, or did not hear all: what this server knows is more.
    if (count < window.count) return;
    window.count = count;
    window.endsAt = this.now() + shared.leftMs;
  }

  private async tell(key: string, attempts: number, leftMs: number) {
    try {
      const shared = await this.shared?.add(key, attempts, leftMs);
      this.isAlone = false;
      return shared;
    } catch (error) {
      if (!this.isAlone) this.onOutage(error);
      this.isAlone = true;
      return undefined;
    }
  }
}

function decide(count: number, leftMs: number, { attempts }: RateLimit): RateDecision {
  return {
    allowed: count <= attempts,
    remaining: Math.max(0, attempts - count),
    // Whole milliseconds first: a difference of clock readings may be a trillionth more than the window.
    resetSeconds: Math.max(1, Math.ceil(Math.round(leftMs) / 1000)),
  };
}

/** Counts attempts at passwords and sign-ups. */
export const ATTEMPT_LIMITER = Symbol('ATTEMPT_LIMITER');
/** Counts requests; apart from the other, so that a flood of neither makes it forget. */
export const REQUEST_LIMITER = Symbol('REQUEST_LIMITER');
