import type { ValkeyClient } from '#lib/valkey';
import type { SharedCount, SharedCounts } from './rate-limiter.js';

// One step, because a key that was incremented and never got its expiry would refuse forever.
const COUNT = `
local count = redis.call('INCRBY', KEYS[1], ARGV[2])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left}`;

/** Counts for all servers in Valkey. Flushing it forgives at most one window of attempts. */
export class ValkeyCounts implements SharedCounts {
  constructor(private readonly valkey: ValkeyClient) {}

  async add(key: string, attempts: number, windowMs: number): Promise<SharedCount> {
    const attempt = await this.valkey.change((commands) =>
      commands.eval(COUNT, 1, `rate:${key}`, Math.ceil(windowMs), attempts),
    );
    if (attempt.kind !== 'done') throw attempt.error;
    const [count, leftMs] = attempt.value as [number, number];
    return { count, leftMs };
  }
}
