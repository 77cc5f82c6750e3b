import { LRUCache } from 'lru-cache';
import { growingTo } from '#lib/kernel';

/** A limit: attempts in a window that starts with the first of them. */
export interface RateLimit {
  attempts: number;
  windowSeconds: number;
}

export interface RateDecision {
  allowed: boolean;
  /** Attempts left in the window. */
  remaining: number;
  /** Seconds until the next window starts, at least 1. */
  resetSeconds: number;
}

/** A count that all servers share, with the remaining time of its window. */
export interface SharedCount {
  count: number;
  leftMs: number;
}

export interface SharedCounts {
  /**
   * Adds to the count of a key in one round trip.
   *
   * @param leftMs length of the window, if the key has none
   * @throws Error if the count cannot be reached
   */
  add(key: string, attempts: number, leftMs: number): Promise<SharedCount>;
}

/** Attempts by one key that this server knows of. */
interface Window {
  count: number;
  /** The part of `count` that other servers do not know. */
  untold: number;
  endsAt: number;
  telling: boolean;
}

export interface RateLimiterOptions {
  /** Absent means that this server counts alone. */
  shared?: SharedCounts;
  /** Called at the first failure of the shared counts after they worked. */
  onOutage?: (error: unknown) => void;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

/** `count` reports to the others after each such part of the limit. */
export const SLICES = 20;

/**
 * Counts attempts by a key in this process, for up to 50,000 keys (a flood of keys evicts the
 * oldest), and in the shared counts of all servers. While these cannot be reached, each server
 * limits its own requests and refuses nothing because of the outage.
 */
export class RateLimiter {
  private readonly windows = new LRUCache<string, Window>(growingTo(50_000));
  private readonly shared: SharedCounts | undefined;
  private readonly onOutage: (error: unknown) => void;
  private readonly now: () => number;
  private isAlone = false;

  constructor({ shared, onOutage, now }: RateLimiterOptions = {}) {
    this.shared = shared;
    this.onOutage = onOutage ?? (() => undefined);
    this.now = now ?? (() => performance.now());
  }

  /**
   * Counts one attempt exactly, waiting for the shared count. Both the shared count and this
   * server's own must allow it.
   */
  async take(key: string, limit: RateLimit): Promise<RateDecision> {
    const now = this.now();
    const { count, endsAt } = this.addOne(key, limit, now);
    const decision = decide(count, endsAt - now, limit);
    if (!decision.allowed || this.shared === undefined) return decision;
    const shared = await this.tell(key, 1, limit.windowSeconds * 1000);
    return shared === undefined ? decision : decide(shared.count, shared.leftMs, limit);
  }

  /** The decision about one more attempt, which is not counted. */
  async peek(key: string, limit: RateLimit): Promise<RateDecision> {
    const now = this.now();
    const window = this.windows.get(key);
    const [known, endsAt] =
      window && window.endsAt > now ? [window.count, window.endsAt] : [0, now];
    const shared = await this.tell(key, 0, limit.windowSeconds * 1000);
    const leftMs = Math.max(endsAt - now, shared?.leftMs ?? 0);
    return decide(Math.max(known, shared?.count ?? 0) + 1, leftMs, limit);
  }

  /**
   * Counts one attempt and decides at once, by this server's knowledge. It exchanges counts with
   * the others in the background after each slice of the limit. So n servers together exceed the
   * limit by a slice each, plus the attempts during the exchange.
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
    // Also after a failure: the attempts may have been counted, and counting them twice would
    // refuse allowed requests.
    window.untold = 0;
    const shared = await this.tell(key, told, leftMs);
    window.telling = false;
    // The answer can arrive in the next window, which it does not concern.
    if (shared === undefined || window.endsAt !== endsAt) return;
    const count = shared.count + window.untold;
    // The count was flushed or incomplete, and this server knows of more.
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
    // Rounded to milliseconds first, because a difference of clock readings can exceed the window
    // by a trillionth.
    resetSeconds: Math.max(1, Math.ceil(Math.round(leftMs) / 1000)),
  };
}

/** Counts attempts at passwords and sign-ups. */
export const ATTEMPT_LIMITER = Symbol('ATTEMPT_LIMITER');
/** Counts requests separately, so that a flood of either does not evict the other. */
export const REQUEST_LIMITER = Symbol('REQUEST_LIMITER');
