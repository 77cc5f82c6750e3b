import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressGroup } from './attempts.js';
import { InProcessRateLimiter } from './in-process-rate-limiter.js';
import { LayeredRateLimiter } from './layered-rate-limiter.js';

const LIMIT = { attempts: 3, windowSeconds: 60 };

describe('the limiter of one process', () => {
  it('allows so many in a window, says how long to wait, and starts again', async () => {
    let now = 0;
    const limiter = new InProcessRateLimiter(() => now);
    for (let i = 0; i < 3; i++) expect(await limiter.take('a', LIMIT)).toEqual({ allowed: true });
    now = 20_500;
    expect(await limiter.take('a', LIMIT)).toEqual({ allowed: false, retryAfterSeconds: 40 });
    expect(await limiter.take('b', LIMIT)).toEqual({ allowed: true });
    now = 60_000;
    expect(await limiter.take('a', LIMIT)).toEqual({ allowed: true });
  });

  it('keeps its word: after Retry-After the next attempt is allowed', async () => {
    const pauses = fc.array(fc.nat(30_000), { minLength: 1, maxLength: 50 });
    const property = fc.asyncProperty(pauses, async (waits) => {
      let now = 0;
      const limiter = new InProcessRateLimiter(() => now);
      for (const wait of waits) {
        now += wait;
        const decision = await limiter.take('a', LIMIT);
        if (decision.allowed) continue;
        now += decision.retryAfterSeconds * 1000;
        expect((await limiter.take('a', LIMIT)).allowed).toBe(true);
      }
    });
    await fc.assert(property);
  });
});

describe('two limiters', () => {
  it('must both allow; without the shared one the local one has counted', async () => {
    let down = false;
    const failures: unknown[] = [];
    const shared = new InProcessRateLimiter(() => 0);
    const limiter = new LayeredRateLimiter(
      new InProcessRateLimiter(() => 0),
      { take: (...args) => (down ? Promise.reject(new Error('down')) : shared.take(...args)) },
      (error) => failures.push(error),
    );
    await shared.take('a', LIMIT);
    await shared.take('a', LIMIT);
    expect((await limiter.take('a', LIMIT)).allowed).toBe(true);
    expect((await limiter.take('a', LIMIT)).allowed).toBe(false);
    down = true;
    expect((await limiter.take('a', LIMIT)).allowed).toBe(true);
    expect((await limiter.take('a', LIMIT)).allowed).toBe(false);
    expect(failures).toHaveLength(1);
  });
});

describe('addresses', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (address, group) => expect(addressGroup(address)).toBe(group));
});
