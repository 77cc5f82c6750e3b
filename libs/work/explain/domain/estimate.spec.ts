import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  estimate,
  type EstimateView,
  kindOf,
  type Position,
  type SimulatedTask,
  UNKNOWN_REASONS,
} from './estimate.js';
import { sampleOf } from './sample.js';

const NOW = new Date('2026-03-01T12:00:00Z');

interface Seen {
  durations: readonly number[];
  waits: readonly number[];
}
/** 101 tasks of 100 to 200 s, with negligible waits. */
const SEEN: Seen = {
  durations: Array.from({ length: 101 }, (_, i) => 100 + i),
  waits: Array.from({ length: 101 }, () => 0),
};
const ALWAYS_100: Seen = { durations: [100, 100, 100], waits: [0, 0, 0] };
const NONE: Seen = { durations: [], waits: [] };

function simulated(position: Position, seen: Seen = SEEN, number = 0): SimulatedTask {
  return { number, kind: kindOf(seen), position };
}

/**
 * @param held for how long the tasks in occupied slots have run
 */
function queued(ahead: number, free: number, held: number[] = [], seen: Seen = SEEN): Position {
  const kind = sampleOf(seen.durations);
  const line = {
    freePlaces: free,
    held: held.flatMap((elapsedSeconds) => (kind ? [{ kind, elapsedSeconds }] : [])),
    ahead: kind ? [{ kind, count: ahead }] : [],
  };
  return { kind: 'queued', line, places: { all: free + held.length, free } };
}

function later(fromSeconds: number, ...after: SimulatedTask[]): Position {
  return { kind: 'later', fromSeconds, after, places: { all: 1, free: 0 } };
}

function secondsOf({ start, end }: Pick<EstimateView, 'start' | 'end'>): number[] {
  const after = (time: string | undefined) => (Date.parse(time ?? '') - NOW.getTime()) / 1_000;
  return [start?.p50, start?.p90, end?.p50, end?.p90].map(after);
}

/** Start and end, each as p50 and p90, in seconds from now. */
function times(position: Position, seen: Seen = SEEN): number[] {
  const view = estimate(NOW, simulated(position, seen));
  expect(view.unknownBecause).toBeNull();
  return secondsOf(view);
}

describe('start and end of a task whose kind takes 100 s', () => {
  it.each<[string, Position, number, number]>([
    ['a free place', queued(0, 1), 0, 100],
    ['more free places than tasks before it', queued(3, 4), 0, 100],
    ['as many free places as tasks before it', queued(4, 4, [], ALWAYS_100), 100, 200],
    ['the place of one that has run for 60 s', queued(0, 0, [60], ALWAYS_100), 40, 140],
    ['the first of two places', queued(0, 0, [60, 90], ALWAYS_100), 10, 110],
    ['two places, five before it', queued(5, 0, [60, 90], ALWAYS_100), 240, 340],
    ['a place of one that outlasts all', queued(0, 0, [500], ALWAYS_100), 100, 200],
    ['a retry in a minute', later(60), 60, 160],
    ['a retry that is due', later(-60), 0, 100],
    [
      'two tasks that it waits for',
      later(
        0,
        simulated({ kind: 'running', elapsedSeconds: 30 }, ALWAYS_100, 1),
        simulated(queued(0, 0, [60], ALWAYS_100), ALWAYS_100, 2),
      ),
      140,
      240,
    ],
    ['tasks that are over', later(0, simulated({ kind: 'over' }, NONE, 1)), 0, 100],
    ['a pause that lasts longer', later(90, simulated({ kind: 'over' }, NONE, 1)), 90, 190],
  ])('%s', (_, position, start, end) => {
    expect(times(position, ALWAYS_100)).toEqual([start, start, end, end]);
  });
});

describe('a range', () => {
  it('the range of a task that starts now is that of its kind', () => {
    const [, , p50 = 0, p90 = 0] = times(queued(0, 1));
    expect(p50).toBeGreaterThan(140);
    expect(p50).toBeLessThan(160);
    expect(p90).toBeGreaterThan(182);
    expect(p90).toBeLessThan(198);
  });

  it('the range of a running task uses only longer durations', () => {
    const [start, , p50 = 0, p90 = 0] = times({ kind: 'running', elapsedSeconds: 150 });
    expect(start).toBe(-150);
    // Out of 151 ... 200.
    expect(p50).toBeGreaterThan(18);
    expect(p50).toBeLessThan(32);
    expect(p90).toBeGreaterThan(38);
    expect(p90).toBeLessThan(50);
  });

  it('a task that waits for many ends later than each of them', () => {
    const runs = (number: number) =>
      simulated({ kind: 'running', elapsedSeconds: 0 }, SEEN, number);
    const [one = 0] = times(later(0, runs(1)));
    const [many = 0] = times(later(0, ...Array.from({ length: 20 }, (_, i) => runs(i + 1))));
    expect(one).toBeLessThan(165);
    // The longest of twenty.
    expect(many).toBeGreaterThan(190);
  });

  it('a kind that was observed once has a wide range', () => {
    const [, , p50 = 0, p90 = 0] = times(queued(0, 1), { durations: [100], waits: [0] });
    expect(p50).toBeGreaterThan(60);
    expect(p50).toBeLessThan(140);
    expect(p90).toBeGreaterThan(200);
  });

  it('a hand-over counts for at most 5 s, and the wait of a later task in full', () => {
    const waited = { durations: [100, 100, 100], waits: [60, 60, 60] };
    expect(times(queued(0, 1), waited)[0]).toBe(5);
    expect(times(later(10), waited)[0]).toBe(70);
  });

  it('an estimate names its data', () => {
    const kind = sampleOf([10]);
    const line = { freePlaces: 1, held: [], ahead: kind ? [{ kind, count: 3 }] : [] };
    const places = { all: 4, free: 1 };
    expect(estimate(NOW, simulated({ kind: 'queued', line, places })).basis).toEqual({
      completedTasks: 101,
      durationSeconds: { p50: 150, p90: 190 },
      waitSeconds: { p50: 0, p90: 0 },
      ahead: 3,
      places,
      after: null,
    });
    const waits = later(0, simulated({ kind: 'over' }));
    expect(estimate(NOW, simulated(waits, NONE)).basis).toEqual({
      completedTasks: 0,
      durationSeconds: null,
      waitSeconds: null,
      ahead: null,
      places: { all: 1, free: 0 },
      after: 1,
    });
  });
});

describe('the reason for a missing estimate', () => {
  const unknown = (reason: (typeof UNKNOWN_REASONS)[number], number = 1) =>
    simulated({ kind: 'unknown', reason }, SEEN, number);

  it.each<[string, Position, Seen, string]>([
    ['nothing was seen of its kind', queued(0, 1), NONE, 'no_history'],
    ['nobody can take it', queued(0, 0), SEEN, 'no_agent'],
    ['it is paused', { kind: 'unknown', reason: 'paused' }, SEEN, 'paused'],
    ['it has ended', { kind: 'unknown', reason: 'ended' }, NONE, 'ended'],
    [
      'it waits for one that is paused',
      later(0, unknown('paused')),
      SEEN,
      'waiting_for_dependency',
    ],
    [
      'it waits for one that failed',
      later(0, simulated({ kind: 'over' }), unknown('dependency_failed')),
      SEEN,
      'dependency_failed',
    ],
    [
      'it waits for one that waits for one that failed',
      later(0, simulated(later(0, unknown('dependency_failed', 2)), SEEN, 1)),
      SEEN,
      'dependency_failed',
    ],
    [
      'it waits for one that takes longer than any',
      later(0, simulated({ kind: 'running', elapsedSeconds: 900 }, SEEN, 1)),
      SEEN,
      'waiting_for_dependency',
    ],
  ])('%s', (_, position, seen, unknownBecause) => {
    expect(estimate(NOW, simulated(position, seen))).toMatchObject({
      start: null,
      end: null,
      unknownBecause,
    });
  });

  it('a running task has a known start even without a known end', () => {
    const position: Position = { kind: 'running', elapsedSeconds: 900 };
    const at = new Date(NOW.getTime() - 900_000).toISOString();
    const start = { p50: at, p90: at };
    expect(estimate(NOW, simulated(position))).toMatchObject({
      start,
      end: null,
      unknownBecause: 'longer_than_any',
    });
    expect(estimate(NOW, simulated(position, NONE))).toMatchObject({
      start,
      end: null,
      unknownBecause: 'no_history',
    });
  });

  it('a circle of waiting tasks terminates', () => {
    const after: SimulatedTask[] = [];
    const one = simulated({ kind: 'later', fromSeconds: 0, after, places: { all: 1, free: 1 } });
    after.push(one);
    expect(estimate(NOW, one).unknownBecause).toBe('waiting_for_dependency');
  });
});

describe('any estimate', () => {
  const seconds = fc.double({ min: 0, max: 1e6, noNaN: true });
  const history = fc
    .array(fc.record({ duration: seconds, wait: seconds }), { minLength: 1, maxLength: 30 })
    .map((seen) => ({
      durations: seen.map(({ duration }) => duration),
      waits: seen.map(({ wait }) => wait),
    }));
  const many = fc.integer({ min: 0, max: 60 });
  const held = fc.array(seconds, { maxLength: 10 });

  it('a start is after now, an end after its start, and p90 after p50', () => {
    fc.assert(
      fc.property(history, many, many, held, seconds, (seen, ahead, free, busy, from) => {
        const waits = later(from, simulated(queued(ahead, free + 1, busy, seen), seen, 1));
        for (const position of [queued(ahead, free + 1, busy, seen), waits]) {
          const [start50 = 0, start90 = 0, end50 = 0, end90 = 0] = times(position, seen);
          expect(start50).toBeGreaterThanOrEqual(0);
          expect(start90).toBeGreaterThanOrEqual(start50);
          expect(end50).toBeGreaterThanOrEqual(start50);
          expect(end90).toBeGreaterThanOrEqual(end50);
          expect(end90).toBeGreaterThanOrEqual(start90);
        }
      }),
    );
  });

  it('more tasks before it make a task no earlier, and more slots no later', () => {
    fc.assert(
      fc.property(history, many, many, held, (seen, ahead, free, busy) => {
        const at = (n: number, c: number) => times(queued(n, c, busy, seen), seen);
        const base = at(ahead, free + 1);
        at(ahead + 1, free + 1).forEach((time, i) =>
          expect(time).toBeGreaterThanOrEqual(base[i] ?? 0),
        );
        at(ahead, free + 2).forEach((time, i) => expect(time).toBeLessThanOrEqual(base[i] ?? 0));
      }),
    );
  });

  it('one more dependency makes a task no earlier', () => {
    fc.assert(
      fc.property(history, many, held, (seen, ahead, busy) => {
        // Nobody knows the end of a task that takes no time and still runs.
        fc.pre(Math.max(...seen.durations) > 0);
        const one = simulated(queued(ahead, 1, busy, seen), seen, 1);
        const other = simulated({ kind: 'running', elapsedSeconds: 0 }, seen, 2);
        const base = times(later(0, one), seen);
        times(later(0, one, other), seen).forEach((time, i) =>
          expect(time).toBeGreaterThanOrEqual(base[i] ?? 0),
        );
      }),
    );
  });

  it('a repeated question gets the same answer', () => {
    const position = queued(7, 2, [1, 50, 99]);
    expect(estimate(NOW, simulated(position))).toEqual(estimate(NOW, simulated(position)));
  });
});
