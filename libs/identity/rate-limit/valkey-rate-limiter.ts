import type { ValkeyClient } from '#lib/valkey';
import { decide, type RateDecision, type RateLimit, type RateLimiter } from './rate-limiter.js';

// One step: a key that was counted up and never got its expiry would refuse forever.
const COUNT = `
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left}`;

/** Counts for all servers, in Valkey. Flushing it forgives at most one window of attempts. */
export class ValkeyRateLimiter implements RateLimiter {
  constructor(private readonly valkey: ValkeyClient) {}

  /** @throws Error when Valkey does not answer */
  async take(key: string, limit: RateLimit): Promise<RateDecision> {
    const attempt = await this.valkey.change((commands) =>
      commands.eval(COUNT, 1, `rate:${key}`, limit.windowSeconds * 1000),
    );
    if (attempt.kind !== 'done') throw attempt.error;
    const [count, remainingMs] = attempt.value as [number, number];
    return decide(count, remainingMs, limit);
  }
}
