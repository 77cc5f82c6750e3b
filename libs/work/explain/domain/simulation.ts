import { draw, lasting, type Sample } from './sample.js';

/** Number of simulations. A prime, so that `chance` reaches each part once. */
export const SIMULATIONS = 101;

/** Seconds from now, one entry for each simulation. */
export type Outcomes = Float64Array;

/** Waiting tasks of one kind. */
export interface Group {
  kind: Sample;
  count: number;
}

/** The wait of a task in the queue for a slot, behind others. */
export interface Line {
  /** Free slots, and occupied ones with the time for which they have been held. */
  freePlaces: number;
  held: { kind: Sample; elapsedSeconds: number }[];
  /** The tasks that rank before it. */
  ahead: Group[];
}

/** More draws are not worth their time: only the first slots are then considered. */
const MOST_PLACES = 1_000;

/**
 * The drawn things. Each has its own numbers, so that one more of one kind leaves the others
 * unchanged.
 */
export const DRAWS = { held: 1, own: 2, wait: 3, ahead: 4 } as const;

const CUBES = Uint8Array.from({ length: 2 * SIMULATIONS }, (_, at) => at ** 3 % SIMULATIONS);

/**
 * A number in (0, 1), the same each time for the same arguments. So an answer does not flicker, and
 * in each simulation another task before it makes a task no earlier, and another slot makes it no
 * later.
 *
 * For each drawn thing the simulations reach each of SIMULATIONS equal parts of (0, 1) once, in an
 * order that looks random: the cubes modulo the prime, from another start for each thing. Plain
 * random numbers were tried: 60 of a hundred may lie below a half, the same 60 in each answer, and
 * then a p50 comes true six times in ten.
 */
export function chance(round: number, what: number, index: number): number {
  return shareOf(partOf(orderOf(what, index), round));
}

/** The order in which one thing reaches the parts, as one number. */
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

/** One entry for each simulation. */
export function simulate(of: (round: number) => number): Outcomes {
  const values = new Float64Array(SIMULATIONS);
  for (let round = 0; round < SIMULATIONS; round++) values[round] = of(round);
  return values;
}

/**
 * When a slot becomes free for the last task of the line: the first task takes the slot that is
 * free first and holds it as long as a task of its kind.
 *
 * @returns null without any slot
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

/**
 * The duration of one task: each simulation draws only the part, and each part stands for one
 * duration.
 */
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

/**
 * @param places when each slot is free, ascending; consumed
 */
function lastStart(places: Float64Array, queue: readonly Draws[], round: number): number {
  for (const { lengths, order } of queue) {
    replaceFirst(places, (places[0] ?? 0) + (lengths[partOf(order, round)] ?? 0));
  }
  return places[0] ?? 0;
}

/**
 * The remaining time of a task that has run for this long. One that outlasts all values starts
 * again.
 */
function restOf({ kind, elapsedSeconds }: Line['held'][number]): (share: number) => number {
  const longer = lasting(kind, elapsedSeconds);
  if (!longer) return (share) => draw(kind, share);
  return (share) => draw(longer, share, elapsedSeconds) - elapsedSeconds;
}

/** Replaces the least value of a heap. */
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
