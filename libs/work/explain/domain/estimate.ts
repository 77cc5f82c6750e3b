import { chance, DRAWS, type Line, type Outcomes, simulate, startsInLine } from './simulation.js';
import { type Spread, spreadOf } from './quantiles.js';
import { draw, lasting, type Sample, sampleOf } from './sample.js';

/** Durations and waits of the latest completed tasks of a type. Null means no data. */
export interface Kind {
  /** From the start of the completing run to its end, including pauses. */
  durations: Sample | null;
  /** From the moment a task was ready until an agent had it. */
  waits: Sample | null;
}

/** Slots of the capable agents, and how many are free now. */
export interface Places {
  all: number;
  free: number;
}

/** A task's position on its way. Times are seconds from now. */
export type Position =
  | { kind: 'unknown'; reason: UnknownReason }
  /** It no longer blocks others. */
  | { kind: 'over' }
  /** It is in the queue. */
  | { kind: 'queued'; line: Line; places: Places }
  /** It joins the queue later: at its retry, at the end of a pause, or after other tasks. */
  | { kind: 'later'; fromSeconds: number; after: readonly SimulatedTask[]; places: Places }
  | { kind: 'running'; elapsedSeconds: number };

/** A task on its way. */
export interface SimulatedTask {
  /** Tasks of one estimate have different numbers, so that their durations are independent. */
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

/**
 * A time range: the time is as likely before `p50` as after it, and before `p90` with nine chances
 * in ten.
 */
export interface TimeRange {
  p50: string;
  p90: string;
}

export interface EstimateView {
  start: TimeRange | null;
  end: TimeRange | null;
  /** Why `end` is null. Null if it is not. */
  unknownBecause: UnknownReason | null;
  /** The data behind the estimate. */
  basis: {
    /** Number of completed tasks of its type that were used, the latest ones. */
    completedTasks: number;
    durationSeconds: Spread | null;
    waitSeconds: Spread | null;
    ahead: number | null;
    places: Places | null;
    /** Number of tasks that it waits for. */
    after: number | null;
  };
}

/**
 * A task with a free slot and nobody before it is handed over within this time. Longer waits had
 * other reasons.
 */
const HANDOVER_AT_MOST_SECONDS = 5;

type Times = { starts: Outcomes; ends: Outcomes | UnknownReason } | { unknown: UnknownReason };

/**
 * When a task will start and end, judged by its kind. Pure; `now` is the only clock.
 *
 * The future is simulated SIMULATIONS (101) times. `start` and `end` are the 50th and 90th
 * percentile of the results. In each simulation D is drawn from the durations of a task's type, and
 * W from the waits (`draw` explains small samples):
 *
 *     running    end = now + (D, given that D is longer than it has run by now)
 *     queued     every slot of the capable agents is free when the task that holds it ends (as above),
 *                or now; the tasks that rank before it take, one after the other, the slot that is free
 *                first, each for a D of its own type; then
 *                start = when the next slot is free + min(W, 5 s),  end = start + D
 *     later      start = the latest of: its retry, the ends of the pauses that hold it, and the ends, in
 *                this simulation, of its dependencies, themselves estimated so; + W.  end = start + D
 *
 * It assumes that no task overtakes it, no agent comes or goes, and its next attempt completes. The
 * same numbers are drawn each time, so an answer changes only with its data.
 */
export function estimate(now: Date, simulated: SimulatedTask): EstimateView {
  return { ...view(now, forecast(simulated, new Map())), basis: basisOf(simulated) };
}

/** Durations and waits of the latest completed tasks of a type, in seconds. */
export function kindOf(seen: { durations: readonly number[]; waits: readonly number[] }): Kind {
  return { durations: sampleOf(seen.durations), waits: sampleOf(seen.waits) };
}

function forecast(simulated: SimulatedTask, known: Map<SimulatedTask, Times>): Times {
  const before = known.get(simulated);
  if (before) return before;
  // If tasks wait for each other in a circle, nothing is known of any.
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

/** The reason as seen by the waiting task. */
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
