import { deviationOf, meanOf, quantile, type Spread, spreadOf } from './quantiles.js';

/** What the latest completed tasks of the same kind took, in seconds; one entry a task. */
export interface KindHistory {
  /** From the start of the run that completed it to its end, pauses included. */
  durations: readonly number[];
  /** From when it was ready to when an agent had it. */
  waits: readonly number[];
}

/** Tasks that the agents which could take it may hold at once, and how many more they could hold now. */
export interface Places {
  all: number;
  free: number;
}

/** Where a task stands on its way. */
export type Standing =
  | { kind: 'unknown'; reason: UnknownReason }
  /** It is in the queue, with so many before it. */
  | { kind: 'queued'; ahead: number; places: Places }
  /** It joins the queue at a time that is known: a retry, the end of a pause. */
  | { kind: 'later'; from: Date; places: Places }
  | { kind: 'running'; since: Date };

/** Why there is no estimate, or only half of one. */
export const UNKNOWN_REASONS = [
  'ended',
  'paused',
  'waiting_for_dependency',
  'no_agent',
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
  };
}

/** The 90th percentile of a normal distribution, in standard deviations. */
const Z90 = 1.2816;

/**
 * When a task will start and end, from what was seen of its kind. Pure.
 *
 * With m and s the mean and the standard deviation of the durations, c places of the agents that can take
 * it, f of them free, n tasks before it, and k = max(0, n + 1 - f) places that have to become free first:
 *
 *     start, k = 0    the 10th and the 50th percentile of the waits: nothing is before it, so it waits
 *                     no longer than the quicker half did
 *     start, k > 0    p50 = k m / c, p90 = p50 + 1.28 s sqrt(k) / c: c places become free at the rate c / m
 *     start, later    the time at which it joins the queue, and the 50th and 90th percentile of the waits
 *     end             p50 = start p50 + duration p50,
 *                     p90 = p50 + sqrt((start p90 - start p50)^2 + (duration p90 - duration p50)^2)
 *     end, running    percentiles of those durations that are longer than it has run by now
 *
 * The tasks before it are taken to be of its kind, and nobody to overtake it. Who overtakes it (a higher
 * priority, other queues of the same agents), and agents that come or go, change what follows.
 */
export function estimate(now: Date, standing: Standing, history: KindHistory): EstimateView {
  const { durations, waits } = history;
  const basis = {
    completedTasks: durations.length,
    durationSeconds: durations.length > 0 ? rounded(spreadOf(durations)) : null,
    waitSeconds: waits.length > 0 ? rounded(spreadOf(waits)) : null,
    ahead: standing.kind === 'queued' ? standing.ahead : null,
    places: 'places' in standing ? standing.places : null,
  };
  const times = standing.kind === 'running' ? ofRunning(now, standing, history) : null;
  return { ...(times ?? ofWaiting(now, standing, history)), basis };
}

type Times = Omit<EstimateView, 'basis'>;

function ofRunning(now: Date, { since }: { since: Date }, { durations }: KindHistory): Times {
  const started = { p50: since.toISOString(), p90: since.toISOString() };
  if (durations.length === 0) return { ...unknown('no_history'), start: started };
  const elapsed = (now.getTime() - since.getTime()) / 1_000;
  const longer = durations.filter((seconds) => seconds > elapsed);
  if (longer.length === 0) return { ...unknown('longer_than_any'), start: started };
  return { start: started, end: rangeFrom(since, spreadOf(longer)), unknownBecause: null };
}

function ofWaiting(now: Date, standing: Standing, history: KindHistory): Times {
  if (standing.kind === 'unknown') return unknown(standing.reason);
  if (history.durations.length === 0 || history.waits.length === 0) return unknown('no_history');
  const from = standing.kind === 'later' && standing.from > now ? standing.from : now;
  const wait = waitOf(standing, history);
  if (!wait) return unknown('no_agent');
  const end = sum(wait, spreadOf(history.durations));
  return { start: rangeFrom(from, wait), end: rangeFrom(from, end), unknownBecause: null };
}

function waitOf(standing: Standing, { durations, waits }: KindHistory): Spread | null {
  if (!('places' in standing) || standing.places.all === 0) return null;
  if (standing.kind === 'later') return spreadOf(waits);
  const { ahead, places } = standing;
  const needed = Math.max(0, ahead + 1 - places.free);
  if (needed === 0) return { p50: quantile(waits, 0.1), p90: quantile(waits, 0.5) };
  const p50 = (needed * meanOf(durations)) / places.all;
  return { p50, p90: p50 + (Z90 * deviationOf(durations) * Math.sqrt(needed)) / places.all };
}

/** Of two that do not depend on each other. */
function sum(one: Spread, other: Spread): Spread {
  const p50 = one.p50 + other.p50;
  return { p50, p90: p50 + Math.hypot(one.p90 - one.p50, other.p90 - other.p50) };
}

function unknown(reason: UnknownReason): Times {
  return { start: null, end: null, unknownBecause: reason };
}

function rangeFrom(from: Date, { p50, p90 }: Spread): TimeRange {
  const at = (seconds: number) => new Date(from.getTime() + seconds * 1_000).toISOString();
  return { p50: at(p50), p90: at(p90) };
}

function rounded({ p50, p90 }: Spread): Spread {
  return { p50: Math.round(p50 * 1_000) / 1_000, p90: Math.round(p90 * 1_000) / 1_000 };
}
