import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { estimate, type KindHistory, type Standing, UNKNOWN_REASONS } from './estimate.js';

const NOW = new Date('2026-03-01T12:00:00Z');
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000).toISOString();
const range = (p50: number, p90: number) => ({ p50: at(p50), p90: at(p90) });

/** Eleven tasks: 100 to 200 s of work (mean 150, deviation 33.17), 0 to 10 s of waiting. */
const HISTORY: KindHistory = {
  durations: Array.from({ length: 11 }, (_, i) => 100 + i * 10),
  waits: Array.from({ length: 11 }, (_, i) => i),
};
const NONE: KindHistory = { durations: [], waits: [] };

const queued = (ahead: number, all: number, free: number): Standing => ({
  kind: 'queued',
  ahead,
  places: { all, free },
});

describe('when a task starts and ends', () => {
  it.each<[string, Standing, [number, number], [number, number]]>([
    // 1 + 150; 151 + sqrt(4^2 + 40^2)
    ['a free place', queued(0, 1, 1), [1, 5], [151, 191.199]],
    ['more free places than tasks before it', queued(3, 9, 4), [1, 5], [151, 191.199]],
    // k = 1: 150; + 1.2816 * 33.166
    ['the next place', queued(0, 1, 0), [150, 192.505], [300, 358.367]],
    // k = 9, c = 3: 450; + 1.2816 * 33.166 * 3 / 3
    ['nine places of three', queued(8, 3, 0), [450, 492.505], [600, 658.367]],
    ['nine places, two of them free', queued(10, 3, 2), [450, 492.505], [600, 658.367]],
    [
      'a retry in a minute',
      { kind: 'later', from: new Date(at(60)), places: { all: 1, free: 0 } },
      [65, 69],
      [215, 255.199],
    ],
    [
      'a retry that is due',
      { kind: 'later', from: new Date(at(-60)), places: { all: 1, free: 0 } },
      [5, 9],
      [155, 195.199],
    ],
    [
      'one that runs, for 145 s by now',
      { kind: 'running', since: new Date(at(-145)) },
      [-145, -145],
      // Of 150, 160 ... 200: 175 and 195.
      [30, 50],
    ],
  ])('%s', (_, standing, start, end) => {
    const { basis, ...times } = estimate(NOW, standing, HISTORY);
    expect(times).toEqual({ start: range(...start), end: range(...end), unknownBecause: null });
    expect(basis).toMatchObject({
      completedTasks: 11,
      durationSeconds: { p50: 150, p90: 190 },
      waitSeconds: { p50: 5, p90: 9 },
    });
  });

  it.each<[string, Standing, KindHistory, string]>([
    ['nothing was seen of its kind', queued(0, 1, 1), NONE, 'no_history'],
    ['nobody can take it', queued(0, 0, 0), HISTORY, 'no_agent'],
    ['it is paused', { kind: 'unknown', reason: 'paused' }, HISTORY, 'paused'],
    ['it has ended', { kind: 'unknown', reason: 'ended' }, NONE, 'ended'],
  ])('says why it can not say: %s', (_, standing, history, unknownBecause) => {
    expect(estimate(NOW, standing, history)).toMatchObject({
      start: null,
      end: null,
      unknownBecause,
    });
  });

  it('knows the start of one that runs, even if not its end', () => {
    const standing: Standing = { kind: 'running', since: new Date(at(-900)) };
    const start = range(-900, -900);
    expect(estimate(NOW, standing, HISTORY)).toMatchObject({
      ...{ start, end: null, unknownBecause: 'longer_than_any' },
    });
    expect(estimate(NOW, standing, NONE)).toMatchObject({
      ...{ start, end: null, unknownBecause: 'no_history' },
    });
  });

  it('takes a kind that was seen once to vary as much as it lasted', () => {
    const once = { durations: [100], waits: [0] };
    expect(estimate(NOW, queued(0, 1, 0), once).start).toEqual(range(100, 228.16));
  });
});

describe('always', () => {
  const seconds = fc.double({ min: 0, max: 1e6, noNaN: true });
  const history = fc
    .array(fc.record({ duration: seconds, wait: seconds }), { minLength: 1, maxLength: 30 })
    .map((seen) => ({
      durations: seen.map(({ duration }) => duration),
      waits: seen.map(({ wait }) => wait),
    }));
  const many = fc.integer({ min: 0, max: 100 });
  const places = fc.record({ all: fc.integer({ min: 1, max: 50 }), free: many });
  const ms = (time: string | undefined) => Date.parse(time ?? '');

  it('starts after now, ends after it starts, and is surer of the later time', () => {
    fc.assert(
      fc.property(history, many, places, (seen, ahead, where) => {
        const { start, end } = estimate(NOW, { kind: 'queued', ahead, places: where }, seen);
        expect(ms(start?.p50)).toBeGreaterThanOrEqual(NOW.getTime());
        expect(ms(start?.p90)).toBeGreaterThanOrEqual(ms(start?.p50));
        expect(ms(end?.p50)).toBeGreaterThanOrEqual(ms(start?.p50));
        expect(ms(end?.p90)).toBeGreaterThanOrEqual(ms(end?.p50));
      }),
    );
  });

  it('is no later with more places, and no earlier with more tasks before it', () => {
    fc.assert(
      fc.property(
        history,
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 50 }),
        (seen, ahead, all) => {
          const startOf = (n: number, c: number) =>
            ms(estimate(NOW, queued(n, c, 0), seen).start?.p50);
          expect(startOf(ahead, all + 1)).toBeLessThanOrEqual(startOf(ahead, all));
          expect(startOf(ahead + 1, all)).toBeGreaterThanOrEqual(startOf(ahead, all));
        },
      ),
    );
  });

  it('gives a time or a reason', () => {
    const standing = fc.oneof(
      fc.constantFrom(...UNKNOWN_REASONS).map((reason) => ({ kind: 'unknown' as const, reason })),
      fc.record({ kind: fc.constant('queued' as const), ahead: many, places }),
      fc.record({ kind: fc.constant('running' as const), since: fc.constant(NOW) }),
    );
    fc.assert(
      fc.property(standing, fc.oneof(history, fc.constant(NONE)), (where, seen) => {
        const { end, unknownBecause } = estimate(NOW, where, seen);
        expect(end === null).toBe(unknownBecause !== null);
      }),
    );
  });
});
