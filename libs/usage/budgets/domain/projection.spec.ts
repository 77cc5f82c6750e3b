import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  affordableRuns,
  HOURS_WEIGHTED,
  project,
  type ProjectionFacts,
  RECOMMENDATIONS,
} from './projection.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = new Date('2026-03-10T00:00:00Z');
const inDays = (days: number) => new Date(NOW.getTime() + days * DAY);

/** A budget of a month, of which 1,000 tokens are left and 100 were used in the last day. */
function facts(values: Partial<ProjectionFacts> = {}): ProjectionFacts {
  return {
    now: NOW,
    periodStart: inDays(-10),
    periodEnd: inDays(20),
    remaining: 1_000n,
    available: 1_000n,
    lastHour: { tokens: 0n, hours: 1 },
    lastDay: { tokens: 100n, hours: 24 },
    period: { tokens: 2_000n, hours: 240 },
    hourly: [],
    ...values,
  };
}

const day = (tokens: bigint) => ({ tokens, hours: 24 });
const nothing = { tokens: 0n, hours: 1 };

it('a projection uses the last day, and has the range of all rates', () => {
  expect(project(facts())).toEqual({
    rates: { lastHour: 0, lastDay: 100, period: 200, ewma: 0 },
    daysUntilExhaustion: 10,
    range: { earliest: 5, latest: null },
    exhaustedAt: inDays(10),
    willLastPeriod: false,
    recommendation: 'CONTINUE',
  });
});

it('a budget without usage has no end', () => {
  const idle = facts({ lastDay: nothing, period: nothing });
  expect(project(idle)).toMatchObject({
    rates: { lastHour: 0, lastDay: 0, period: 0, ewma: 0 },
    daysUntilExhaustion: null,
    range: { earliest: null, latest: null },
    exhaustedAt: null,
    willLastPeriod: true,
    recommendation: 'CONTINUE',
  });
});

describe('the weighted average', () => {
  const ewma = (hourly: bigint[]) => project(facts({ hourly })).rates.ewma;

  it('the average of steady usage is that usage', () => {
    expect(ewma(Array<bigint>(HOURS_WEIGHTED).fill(10n))).toBeCloseTo(240);
  });

  it('usage of six hours ago counts half', () => {
    const ago = (hours: number) => [...Array<bigint>(hours).fill(0n), 1_000n];
    expect(ewma(ago(6)) / ewma(ago(0))).toBeCloseTo(0.5);
    expect(ewma(ago(HOURS_WEIGHTED))).toBe(0);
  });
});

describe('the recommendation', () => {
  const lastHour = (tokens: bigint) => ({ tokens, hours: 1 });

  it.each<[string, Partial<ProjectionFacts>, string]>([
    ['eight days left', { lastDay: day(125n) }, 'CONTINUE'],
    ['seven days left', { lastDay: day(143n) }, 'THROTTLE'],
    ['the period ends before', { lastDay: day(250n), periodEnd: inDays(4) }, 'CONTINUE'],
    ['the period ends after', { lastDay: day(250n), periodEnd: inDays(4.1) }, 'THROTTLE'],
    ['the last hour uses all', { lastHour: lastHour(1_000n) }, 'PAUSE'],
    ['the last hour uses nearly all', { lastHour: lastHour(990n) }, 'CONTINUE'],
    [
      'the period ends before that hour',
      { lastHour: lastHour(1_000n), periodEnd: inDays(1 / 25) },
      'CONTINUE',
    ],
    ['everything is held', { available: 0n, lastDay: nothing, period: nothing }, 'PAUSE'],
    ['more was used than there is', { remaining: -5n, available: -5n }, 'PAUSE'],
    ['it is over', { available: 0n, remaining: 0n, periodEnd: NOW }, 'CONTINUE'],
    ['it has not begun', { available: 0n, periodStart: inDays(1) }, 'CONTINUE'],
  ])('when %s', (_, values, recommendation) => {
    expect(project(facts(values)).recommendation).toBe(recommendation);
  });

  it('more usage never makes it milder, and no number is infinite', () => {
    const tokens = fc.bigInt({ min: 0n, max: 2n ** 63n });
    const burnt = fc.record({
      hour: tokens,
      day: tokens,
      period: tokens,
      hourly: fc.array(tokens, { maxLength: HOURS_WEIGHTED + 2 }),
    });
    const budget = fc.record({
      remaining: fc.bigInt({ min: -(2n ** 62n), max: 2n ** 63n }),
      start: fc.integer({ min: -40 * 24, max: 24 }),
      hours: fc.integer({ min: 1, max: 24 * 365 }),
      held: fc.bigInt({ min: 0n, max: 2n ** 40n }),
    });
    fc.assert(
      fc.property(budget, burnt, burnt, ({ remaining, start, hours, held }, less, more) => {
        const at = (extra: typeof more | null) =>
          project(
            facts({
              remaining,
              available: remaining - held,
              periodStart: inDays(start / 24),
              periodEnd: inDays((start + hours) / 24),
              lastHour: lastHour(less.hour + (extra?.hour ?? 0n)),
              lastDay: day(less.day + (extra?.day ?? 0n)),
              period: { tokens: less.period + (extra?.period ?? 0n), hours: 50 },
              hourly: less.hourly.map((one, ago) => one + (extra?.hourly[ago] ?? 0n)),
            }),
          );
        const [before, after] = [at(null), at(more)];
        const severity = ({ recommendation }: typeof before) =>
          RECOMMENDATIONS.indexOf(recommendation);
        expect(severity(after)).toBeGreaterThanOrEqual(severity(before));
        const { earliest, latest } = after.range;
        const numbers = [
          ...Object.values(after.rates),
          after.daysUntilExhaustion,
          earliest,
          latest,
        ];
        expect(numbers.filter((one) => one !== null && !Number.isFinite(one))).toEqual([]);
        expect(after.exhaustedAt?.toISOString()).not.toBe('Invalid Date');
      }),
    );
  });
});

describe('runs that a budget can bear', () => {
  const [remaining, periodEnd] = [1_000n, inDays(10)];
  const runs = (tokens: bigint, runHours: number, left = remaining) =>
    affordableRuns({ now: NOW, periodEnd, remaining: left }, { tokens, runHours });

  it.each([
    ['half of the pace of 10 runs', 200n, 240, 5],
    ['the pace of 4 runs and a bit', 240n, 240, 5],
    ['the same pace of fewer runs for less long', 100n, 120, 5],
    ['less than one run', 100_000n, 24, 1],
    ['runs that used nothing', 0n, 10, 1_000_000],
    ['no runs', 100n, 0, 1],
    ['nothing at all', 0n, 0, 1],
  ])('%s', (_, tokens, runHours, expected) => {
    expect(runs(tokens, runHours)).toBe(expected);
  });

  it('an exhausted budget can bear one run', () => {
    expect(runs(200n, 240, 0n)).toBe(1);
    expect(runs(200n, 240, -7n)).toBe(1);
  });
});
