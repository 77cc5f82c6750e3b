import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressGroup } from './attempts.js';
import { RateLimiter, type SharedCount, type SharedCounts, SLICES } from './rate-limiter.js';

const LIMIT = { attempts: 3, windowSeconds: 60 };

/** Counts that several limiters share, like Valkey's. */
class Counts implements SharedCounts {
  isDown = false;
  calls = 0;
  private readonly windows = new Map<string, { count: number; endsAt: number }>();

  constructor(private readonly now: () => number = () => 0) {}

  add(key: string, attempts: number, leftMs: number) {
    this.calls++;
    if (this.isDown) return Promise.reject(new Error('down'));
    const known = this.windows.get(key);
    const isOpen = known !== undefined && known.endsAt > this.now();
    const window = isOpen ? known : { count: 0, endsAt: this.now() + leftMs };
    window.count += attempts;
    this.windows.set(key, window);
    return Promise.resolve({ count: window.count, leftMs: window.endsAt - this.now() });
  }
}

describe('the limiter of one process', () => {
  it('a limiter allows the limit in a window, names the wait, and starts again', async () => {
    let now = 0;
    const limiter = new RateLimiter({ now: () => now });
    for (let left = 2; left >= 0; left--) {
      const allowed = { allowed: true, remaining: left, resetSeconds: 60 };
      expect(await limiter.take('a', LIMIT)).toEqual(allowed);
    }
    now = 20_500;
    const refused = { allowed: false, remaining: 0, resetSeconds: 40 };
    expect(await limiter.take('a', LIMIT)).toEqual(refused);
    expect(limiter.count('a', LIMIT)).toEqual(refused);
    expect((await limiter.take('b', LIMIT)).allowed).toBe(true);
    now = 60_000;
    expect((await limiter.take('a', LIMIT)).allowed).toBe(true);
  });

  it('an attempt after the announced wait is allowed', async () => {
    const pauses = fc.array(fc.nat(30_000), { minLength: 1, maxLength: 50 });
    const property = fc.asyncProperty(pauses, fc.boolean(), async (waits, shares) => {
      let now = 0;
      const shared = shares ? new Counts(() => now) : undefined;
      const limiter = new RateLimiter({ now: () => now, shared });
      for (const wait of waits) {
        now += wait;
        const decision = limiter.count('a', LIMIT);
        await settled();
        if (decision.allowed) continue;
        now += decision.resetSeconds * 1000;
        expect(limiter.count('a', LIMIT).allowed).toBe(true);
        await settled();
      }
    });
    await fc.assert(property);
  });
});

describe('the limiters of two servers', () => {
  it('both counts must allow an exact attempt, and without shared counts the own one decides', async () => {
    const failures: unknown[] = [];
    const shared = new Counts();
    const other = new RateLimiter({ shared });
    const onOutage = (error: unknown) => failures.push(error);
    const limiter = new RateLimiter({ shared, onOutage, now: () => 0 });
    await other.take('a', LIMIT);
    await other.take('a', LIMIT);
    expect((await limiter.take('a', LIMIT)).allowed).toBe(true);
    expect((await limiter.take('a', LIMIT)).allowed).toBe(false);
    shared.isDown = true;
    expect((await limiter.take('a', LIMIT)).allowed).toBe(true);
    expect((await limiter.take('a', LIMIT)).allowed).toBe(false);
    expect(failures).toHaveLength(1);
  });

  it('two servers together exceed the limit by at most a slice each, and report rarely', async () => {
    const counts = fc.record({
      attempts: fc.integer({ min: 1, max: 200 }),
      turns: fc.array(fc.boolean(), { minLength: 600, maxLength: 800 }),
    });
    const property = fc.asyncProperty(counts, async ({ attempts, turns }) => {
      const shared = new Counts();
      const limit = { attempts, windowSeconds: 10 };
      const [one, two] = [1, 2].map(() => new RateLimiter({ shared, now: () => 0 }));
      let allowed = 0;
      for (const turn of turns) {
        const server = (turn ? one : two) as RateLimiter;
        if (server.count('a', limit).allowed) allowed++;
        await settled();
      }
      const slice = Math.ceil(attempts / SLICES);
      expect(allowed).toBeGreaterThanOrEqual(Math.min(attempts, turns.length));
      expect(allowed).toBeLessThanOrEqual(attempts + 2 * slice);
      expect(shared.calls).toBeLessThanOrEqual(2 * SLICES + 4);
    });
    await fc.assert(property, { numRuns: 30 });
  });

  it('a server relies on its own count when the shared counts were lost', async () => {
    let now = 0;
    const shared = new Counts(() => now);
    const limiter = new RateLimiter({ shared, now: () => now });
    shared.isDown = true;
    for (let i = 0; i < LIMIT.attempts - 1; i++) {
      limiter.count('a', LIMIT);
      await settled();
    }
    shared.isDown = false;
    now = 30_000;
    expect(limiter.count('a', LIMIT).allowed).toBe(true);
    await settled();
    expect(limiter.count('a', LIMIT)).toMatchObject({ allowed: false, resetSeconds: 30 });
    now = 60_000;
    expect(limiter.count('a', LIMIT).allowed).toBe(true);
  });

  it('servers share the window that starts with the first attempt', async () => {
    let now = 0;
    const shared = new Counts(() => now);
    const limit = { attempts: 2 * SLICES, windowSeconds: 60 };
    const [one, two] = [1, 2].map(() => new RateLimiter({ shared, now: () => now }));
    one?.count('a', limit);
    now = 50_000;
    for (const server of [one, two, two]) server?.count('a', limit);
    await settled();
    const left = { allowed: true, remaining: limit.attempts - 5, resetSeconds: 10 };
    expect(two?.count('a', limit)).toEqual(left);
  });

  it('an answer that arrives in the next window is dropped', async () => {
    let now = 0;
    let answer: (count: SharedCount) => void = () => undefined;
    const add = () => new Promise<SharedCount>((resolve) => (answer = resolve));
    const limiter = new RateLimiter({ shared: { add }, now: () => now });
    limiter.count('a', LIMIT);
    now = 60_000;
    limiter.count('a', LIMIT);
    answer({ count: LIMIT.attempts, leftMs: 60_000 });
    await settled();
    now = 70_000;
    const second = { allowed: true, remaining: LIMIT.attempts - 2, resetSeconds: 50 };
    expect(limiter.count('a', LIMIT)).toEqual(second);
  });

  it('unreachable counts refuse nothing', async () => {
    const shared = new Counts();
    shared.isDown = true;
    const failures: unknown[] = [];
    const onOutage = (error: unknown) => failures.push(error);
    const limiter = new RateLimiter({ shared, onOutage, now: () => 0 });
    for (let i = 0; i < LIMIT.attempts; i++) {
      expect(limiter.count('a', LIMIT).allowed).toBe(true);
      await settled();
    }
    expect(limiter.count('a', LIMIT).allowed).toBe(false);
    expect(failures).toHaveLength(1);
  });
});

/** Resolves when background reports were answered. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

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
