import { chance, DRAWS, type Line, type Outcomes, simulate, startsInLine } from './simulation.js';
import { type Spread, spreadOf } from './quantiles.js';
import { draw, lasting, type Sample, sampleOf } from './sample.js';

/** What the latest completed tasks of a type took; null: nothing was seen of it. */
export interface Kind {
  /** From the start of the run that completed one to its end, pauses included. */
  durations: Sample | null;
  /** From when one was ready to when an agent had it. */
  waits: Sample | null;
}

/** Tasks that the agents which could take it may hold at once, and how many more they could hold now. */
export interface Places {
  all: number;
  free: number;
}

/** Where a task stands on its way. Times are seconds from now. */
export type Position =
  | { kind: 'unknown'; reason: UnknownReason }
  /** It holds nobody back any more. */
  | { kind: 'over' }
  /** It is in the queue. */
  | { kind: 'queued'; line: Line; places: Places }
  /** It joins the queue later: at its retry, the end of a pause, the end of other tasks. */
  | { kind: 'later'; fromSeconds: number; after: readonly SimulatedTask[]; places: Places }
  | { kind: 'running'; elapsedSeconds: number };

/** A task on its way. */
export interface SimulatedTask {
  /** Tasks that are looked at together have different ones: their durations have nothing to do with each other. */
  number: number;
  kind: Kind;
  position: Position;
}

/** Why there is no estimate, or only half of one. */
export const UNKNOWN_REASONS = [
  'ended',
  'paused',
  'held_back',
  'dependency_failed',
  'waiting_for_dependency',
  'too_many_dependencies',
  'no_agent',
  'spawn_rate',
  'too_far_back',
  'no_history',
  'longer_than_any',
] as const;
export type UnknownReason = (typeof UNKNOWN_REASONS)[number];

/** A time as a range: as likely before `p50` as after it, and with nine chances of ten before `p90`. */
export interface TimeRange {
  p50: string;
  p90: string;
}

export interface EstimateView {
  start: TimeRange | null;
  end: TimeRange | null;
  /** Why `end` is null; null when it is not. */
  unknownBecause: UnknownReason | null;
  /** What it is drawn from. */
  basis: {
    /** Completed tasks of its type that were looked at: the latest ones. */
    completedTasks: number;
    durationSeconds: Spread | null;
    waitSeconds: Spread | null;
    ahead: number | null;
    places: Places | null;
    /** Tasks for whose end it waits. */
    after: number | null;
  };
}

/** Who has a place and nobody before it is handed over; that this took longer was another matter. */
const HANDOVER_AT_MOST_SECONDS = 5;

type Times = { starts: Outcomes; ends: Outcomes | UnknownReason } | { unknown: UnknownReason };

/**
 * When a task will start and end, from what was seen of its kind. Pure; `now` is the only clock.
 *
 * The future is simulated SIMULATIONS (101) times. `start` and `end` are the 50th and the 90th percentile
 * of what came of it. In each simulation, with D drawn from the durations of a task's type, W from the waits
 * (`draw` says how few values count):
 *
 *     running    end = now + (D, given that D is longer than it has run by now)
 *     queued     every place of the agents that can take it is free when the task that holds it ends (as
 *                above), or now; the tasks that rank before it take, one after the other, the place that
 *                is free first, each for a D of its own type; then
 *                start = when the next place is free + min(W, 5 s),  end = start + D
 *     later      start = the latest of: its retry, the ends of the pauses that hold it, and the ends, in
 *                this simulation, of the tasks that it waits for, themselves estimated so; + W.  end = start + D
 *
 * It is taken that nobody overtakes it, no agent comes or goes, and its next attempt completes. The same
 * numbers are drawn each time, so an answer changes only with what it is drawn from.
 */
export function estimate(now: Date, simulated: SimulatedTask): EstimateView {
  return { ...view(now, forecast(simulated, new Map())), basis: basisOf(simulated) };
}

/** What the latest completed tasks of a type show, in seconds. */
export function kindOf(seen: { durations: readonly number[]; waits: readonly number[] }): Kind {
  return { durations: sampleOf(seen.durations), waits: sampleOf(seen.waits) };
}

function forecast(simulated: SimulatedTask, known: Map<SimulatedTask, Times>): Times {
  const before = known.get(simulated);
  if (before) return before;
  // Should tasks wait for each other in a circle, nothing is known of any.
  known.set(simulated, { unknown: 'waiting_for_dependency' });
  const times = timesOf(simulated, known);
  known.set(simulated, times);
  return times;
}

function timesOf(simulated: SimulatedTask, known: Map<SimulatedTask, Times>): Times {
  const { position } = simulated;
  switch (position.kind) {
    case 'unknown':
      return { unknown: position.reason };
    case 'over':
      return { starts: simulate(() => 0), ends: simulate(() => 0) };
    case 'running':
      return ofRunning(simulated, position.elapsedSeconds);
    case 'queued': {
      if (!simulated.kind.durations) return { unknown: 'no_history' };
      const places = startsInLine(position.line);
      if (!places) return { unknown: 'no_agent' };
      const handover = (wait: number) => Math.min(wait, HANDOVER_AT_MOST_SECONDS);
      return ofWaiting(simulated, (round, wait) => (places[round] ?? 0) + handover(wait));
    }
    case 'later':
      return ofLater(simulated, position, known);
  }
}

function ofRunning({ number, kind: { durations } }: SimulatedTask, elapsed: number): Times {
  const starts = simulate(() => -elapsed);
  if (!durations) return { starts, ends: 'no_history' };
  const longer = lasting(durations, elapsed);
  if (!longer) return { starts, ends: 'longer_than_any' };
  const ends = simulate(
    (round) => draw(longer, chance(round, DRAWS.own, number), elapsed) - elapsed,
  );
  return { starts, ends };
}

function ofLater(
  simulated: SimulatedTask,
  { fromSeconds, after }: Extract<Position, { kind: 'later' }>,
  known: Map<SimulatedTask, Times>,
): Times {
  const from = simulate(() => Math.max(0, fromSeconds));
  for (const prerequisite of after) {
    const times = forecast(prerequisite, known);
    const unknown = 'unknown' in times ? times.unknown : times.ends;
    if (typeof unknown === 'string') return { unknown: whenWaitedFor(unknown) };
    unknown.forEach((end, round) => (from[round] = Math.max(from[round] ?? 0, end)));
  }
  return ofWaiting(simulated, (round, wait) => (from[round] ?? 0) + wait);
}

/** What it means for the one that waits. */
function whenWaitedFor(reason: UnknownReason): UnknownReason {
  const isItsOwn = reason === 'dependency_failed' || reason === 'too_many_dependencies';
  return isItsOwn ? reason : 'waiting_for_dependency';
}

function ofWaiting(
  { number, kind: { durations, waits } }: SimulatedTask,
  startOf: (round: number, wait: number) => number,
): Times {
  if (!durations) return { unknown: 'no_history' };
  const starts = simulate((round) =>
    startOf(round, waits ? draw(waits, chance(round, DRAWS.wait, number)) : 0),
  );
  const ends = starts.map(
    (start, round) => start + draw(durations, chance(round, DRAWS.own, number)),
  );
  return { starts, ends };
}

function view(now: Date, times: Times): Omit<EstimateView, 'basis'> {
  if ('unknown' in times) return { start: null, end: null, unknownBecause: times.unknown };
  const { starts, ends } = times;
  const start = rangeOf(now, starts);
  if (typeof ends === 'string') return { start, end: null, unknownBecause: ends };
  return { start, end: rangeOf(now, ends), unknownBecause: null };
}

function rangeOf(now: Date, seconds: Outcomes): TimeRange {
  const at = (after: number) => new Date(now.getTime() + Math.round(after * 1_000)).toISOString();
  const { p50, p90 } = spreadOf(seconds);
  return { p50: at(p50), p90: at(p90) };
}

function basisOf({ kind, position }: SimulatedTask): EstimateView['basis'] {
  const ahead = position.kind === 'queued' ? position.line.ahead : null;
  return {
    completedTasks: kind.durations?.values.length ?? 0,
    durationSeconds: kind.durations && rounded(spreadOf(kind.durations.values)),
    waitSeconds: kind.waits && rounded(spreadOf(kind.waits.values)),
    ahead: ahead && ahead.reduce((sum, { count }) => sum + count, 0),
    places: 'places' in position ? position.places : null,
    after: position.kind === 'later' ? position.after.length : null,
  };
}

function rounded({ p50, p90 }: Spread): Spread {
  return { p50: Math.round(p50 * 1_000) / 1_000, p90: Math.round(p90 * 1_000) / 1_000 };
}
