import { LRUCache } from 'lru-cache';
import { decide, type RateDecision, type RateLimit, type RateLimiter } from './rate-limiter.js';

interface Window {
  count: number;
  endsAt: number;
}

/** Counts in this process, for up to 50,000 keys; a flood of keys pushes the oldest out. */
export class InProcessRateLimiter implements RateLimiter {
  private readonly windows = new LRUCache<string, Window>({ max: 50_000 });

  /** @param now milliseconds of a clock that only goes forward */
  constructor(private readonly now: () => number = () => performance.now()) {}

  take(key: string, limit: RateLimit): Promise<RateDecision> {
    const now = this.now();
    const known = this.windows.get(key);
    const open = known !== undefined && known.endsAt > now;
    const window = open ? known : { count: 0, endsAt: now + limit.windowSeconds * 1000 };
    window.count++;
    this.windows.set(key, window);
    return Promise.resolve(decide(window.count, window.endsAt - now, limit));
  }
}
