import { draw, lasting, type Sample } from './sample.js';

/** How often the future is simulated. A prime, so that `chance` comes to each part once. */
export const SIMULATIONS = 101;

/** Seconds from now, one entry a simulation. */
export type Outcomes = Float64Array;

/** Tasks that wait, by what is known of their kind. */
export interface Group {
  kind: Sample;
  count: number;
}

/** What a task waits for that is in the queue: a place of an agent, behind others. */
export interface Line {
  /** Places that are free, and those that tasks hold, for how long by now. */
  freePlaces: number;
  held: { kind: Sample; elapsedSeconds: number }[];
  /** Those that rank before it. */
  ahead: Group[];
}

/** More draws than these are not worth their time: of the places then only the first are looked at. */
const MOST_PLACES = 1_000;

/** What is drawn: each has numbers of its own, so that one more of the one leaves the others alone. */
export const DRAWS = { held: 1, own: 2, wait: 3, ahead: 4 } as const;

const CUBES = Uint8Array.from({ length: 2 * SIMULATIONS }, (_, at) => at ** 3 % SIMULATIONS);

/**
 * A number in (0, 1): the same each time for the same arguments, so that an answer does not flicker, and
 * so that in each simulation another task before it makes a task no earlier, and another place no later.
 *
 * For each thing that is drawn the simulations come once to each of SIMULATIONS equal parts of (0, 1), in an order
 * that looks like chance: the cubes modulo the prime are such an order, from another start for each
 * thing. (Plain random numbers were tried: of a hundred of them 60 may lie below a half, the same 60 in
 * each answer, and then a p50 comes true six times in ten.)
 */
export function chance(round: number, what: number, index: number): number {
  return shareOf(partOf(orderOf(what, index), round));
}

/** The order in which one thing comes to the parts, as one number. */
function orderOf(what: number, index: number): number {
  let mixed = Math.imul(what, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

function partOf(order: number, round: number): number {
  const factor = 1 + (order % (SIMULATIONS - 1));
  const start = (order >>> 8) % SIMULATIONS;
  const turn = (order >>> 16) % SIMULATIONS;
  return (factor * (CUBES[start + round] ?? 0) + turn) % SIMULATIONS;
}

function shareOf(part: number): number {
  return (part + 0.5) / SIMULATIONS;
}

/** One entry a simulation. */
export function simulate(of: (round: number) => number): Outcomes {
  const values = new Float64Array(SIMULATIONS);
  for (let round = 0; round < SIMULATIONS; round++) values[round] = of(round);
  return values;
}

/**
 * When a place becomes free for who stands at the end of the line: whoever is first takes the place that
 * is free first, and holds it as long as one of its kind does.
 *
 * @returns null without any place
 */
export function startsInLine({ freePlaces, held, ahead }: Line): Outcomes | null {
  if (freePlaces + held.length === 0) return null;
  const before = ahead.reduce((sum, { count }) => sum + count, 0);
  if (before < freePlaces) return simulate(() => 0);
  const free = Math.min(freePlaces, MOST_PLACES);
  const rests = held.slice(0, MOST_PLACES - free).map(restOf);
  const queue = ahead.flatMap(drawsOf);
  return simulate((round) => {
    const places = new Float64Array(free + rests.length);
    rests.forEach((rest, index) => {
      places[free + index] = rest(chance(round, DRAWS.held, index));
    });
    return lastStart(places.sort(), queue, round);
  });
}

/** How long one task takes: of each simulation only the part is drawn, and each part stands for one length. */
interface Draws {
  lengths: Float64Array;
  order: number;
}

function drawsOf({ kind, count }: Group, group: number): Draws[] {
  const lengths = simulate((part) => draw(kind, shareOf(part)));
  return Array.from({ length: count }, (_, index) => ({
    lengths,
    order: orderOf(DRAWS.ahead + group, index),
  }));
}

/** @param places when each is free, ascending; used up */
function lastStart(places: Float64Array, queue: readonly Draws[], round: number): number {
  for (const { lengths, order } of queue) {
    replaceFirst(places, (places[0] ?? 0) + (lengths[partOf(order, round)] ?? 0));
  }
  return places[0] ?? 0;
}

/** How long a task goes on that has run so long; one that outlasts all that were seen starts again. */
function restOf({ kind, elapsedSeconds }: Line['held'][number]): (share: number) => number {
  const longer = lasting(kind, elapsedSeconds);
  if (!longer) return (share) => draw(kind, share);
  return (share) => draw(longer, share, elapsedSeconds) - elapsedSeconds;
}

/** Puts another value in the place of the least one of a heap. */
function replaceFirst(heap: Float64Array, value: number): void {
  let at = 0;
  for (let left = 1; left < heap.length; left = 2 * at + 1) {
    const right = left + 1;
    const least = right < heap.length && (heap[right] ?? 0) < (heap[left] ?? 0) ? right : left;
    const child = heap[least] ?? 0;
    if (child >= value) break;
    heap[at] = child;
    at = least;
  }
  heap[at] = value;
}
