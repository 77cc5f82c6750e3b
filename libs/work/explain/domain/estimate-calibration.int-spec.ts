import { describe, expect, it } from '@jest/globals';
import { estimate, type EstimateView, kindOf, type Position } from './estimate.js';
import { sampleOf } from './sample.js';

/**
 * Worlds with a known future: an estimate must come true as often as it says. Each trial has its
 * own world, so that trials are independent. They take longer than a quarter of all unit tests, so
 * they run with the integration tests.
 */

const NOW = new Date('2026-03-01T12:00:00Z');
const TRIALS = 300;

/** Numbers in (0, 1), the same in each run of the test. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 4_294_967_296;
  };
}

type Durations = (random: () => number) => number;
const normal = (random: () => number) =>
  Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
const KINDS: Record<string, Durations> = {
  'nearly the same': (random) => Math.max(1, 100 + 5 * normal(random)),
  'very different': (random) => 60 * Math.exp(normal(random)),
  memoryless: (random) => -100 * Math.log(random()),
};

interface World {
  agents: number;
  tasks: number;
  seen: number;
  durations: Durations;
}

/**
 * Tasks that arrived at once, and agents that claim them in order. The moment of the look is
 * independent of the future, and so is the choice among the waiting tasks. Null if none waits.
 */
function look({ agents, tasks, seen, durations }: World, random: () => number) {
  const history = Array.from({ length: seen }, () => durations(random));
  const free = Array.from({ length: agents }, () => 0);
  const runs = Array.from({ length: tasks }, () => {
    const first = free.indexOf(Math.min(...free));
    const start = free[first] ?? 0;
    const end = start + durations(random);
    free[first] = end;
    return { start, end };
  });
  const now = random() * 60 * (tasks / agents);
  const waiting = runs.filter(({ start }) => start > now);
  const place = Math.floor(random() * waiting.length);
  const mine = waiting[place];
  if (!mine) return null;
  const kind = sampleOf(history);
  const busy = runs.filter(({ start, end }) => start <= now && end > now);
  const line = {
    freePlaces: 0,
    held: busy.flatMap(({ start }) => (kind ? [{ kind, elapsedSeconds: now - start }] : [])),
    ahead: kind ? [{ kind, count: place }] : [],
  };
  const position: Position = { kind: 'queued', line, places: { all: agents, free: 0 } };
  const waits = history.map(() => 0);
  const view = estimate(NOW, { number: 0, kind: kindOf({ durations: history, waits }), position });
  return { view, start: mine.start - now, end: mine.end - now };
}

type Trial = { view: EstimateView; start: number; end: number } | null;

/** Shares of the trials in which the estimate came true. */
function cameTrue(trial: (random: () => number) => Trial): Record<string, number> {
  const hits = { start50: 0, start90: 0, end50: 0, end90: 0 };
  let count = 0;
  for (let seed = 1; count < TRIALS; seed++) {
    const seen = trial(numbers(seed * 7_919));
    if (!seen) continue;
    const { view, start, end } = seen;
    const by = (time = '') => (Date.parse(time) - NOW.getTime()) / 1_000 + 0.001;
    hits.start50 += Number(start <= by(view.start?.p50));
    hits.start90 += Number(start <= by(view.start?.p90));
    hits.end50 += Number(end <= by(view.end?.p50));
    hits.end90 += Number(end <= by(view.end?.p90));
    count++;
  }
  return Object.fromEntries(Object.entries(hits).map(([name, hit]) => [name, hit / TRIALS]));
}

function expectAsSaid(shares: Record<string, number>, slack = 0): void {
  for (const [name, share] of Object.entries(shares)) {
    const [least, most] = name.endsWith('50') ? [0.4, 0.6] : [0.84, 0.96];
    expect([name, share >= least - slack && share <= most + slack, share]).toEqual([
      name,
      true,
      share,
    ]);
  }
}

describe.each(Object.entries(KINDS))('with durations that are %s', (_, durations) => {
  it.each([
    [1, 10, 200],
    [4, 30, 200],
    [16, 60, 200],
    [4, 30, 20],
  ])(
    'with %i agents, %i tasks and %i observations an estimate comes true as often as it says',
    (agents, tasks, seen) => {
      const shares = cameTrue((random) => look({ agents, tasks, seen, durations }, random));
      // Twenty values determine the mean poorly, and a queue adds the errors up.
      expectAsSaid(shares, seen < 100 ? 0.1 : 0);
    },
  );

  it('the estimate of a task that waits for five others comes true as often as it says', () => {
    const shares = cameTrue((random) => {
      const history = Array.from({ length: 100 }, () => durations(random));
      const kind = kindOf({ durations: history, waits: history.map(() => random() * 2) });
      const others = Array.from({ length: 5 }, (_one, index) => {
        const elapsedSeconds = random() * 60;
        let duration = durations(random);
        while (duration <= elapsedSeconds) duration = durations(random);
        const position: Position = { kind: 'running', elapsedSeconds };
        return {
          left: duration - elapsedSeconds,
          simulated: { number: index + 1, kind, position },
        };
      });
      const after = others.map(({ simulated }) => simulated);
      const position: Position = {
        kind: 'later',
        fromSeconds: 0,
        after,
        places: { all: 9, free: 9 },
      };
      const start = Math.max(...others.map(({ left }) => left)) + random() * 2;
      const view = estimate(NOW, { number: 0, kind, position });
      return { view, start, end: start + durations(random) };
    });
    expectAsSaid(shares, 0.02);
  });
});
