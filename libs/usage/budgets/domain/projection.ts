/*
 * When a budget will be exhausted, by what is being used of it. Pure, and total: nothing that burns gives nulls, and no
 * number is infinite.
 */

const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;
const DAY_MS = HOURS_A_DAY * HOUR_MS;

/** Hours after which usage counts half as much in the weighted average. */
export const HALF_LIFE_HOURS = 6;
/** Hours that the weighted average looks back: eight half-lives, before which lies less than 1 % of the weight. */
export const HOURS_WEIGHTED = 48;
/** A budget that is exhausted within these days, and before its period ends, is to be slowed down. */
const THROTTLE_DAYS = 7;
/** One that is exhausted within this time at the fastest of the rates is to be paused. */
const PAUSE_HOURS = 1;
/** A date farther away says nothing, and a JavaScript date may not hold it. */
const FORESEEN_DAYS = 36_525;

/** Tokens that were used in some hours. */
export interface Used {
  tokens: bigint;
  hours: number;
}

export interface ProjectionFacts {
  now: Date;
  periodStart: Date;
  periodEnd: Date;
  /** What is not used. */
  remaining: bigint;
  /** What is neither used nor held. */
  available: bigint;
  lastHour: Used;
  lastDay: Used;
  /** Since the period began. */
  period: Used;
  /** Tokens of each full hour back from now, the latest first; missing ones count as none. */
  hourly: readonly bigint[];
}

/** Tokens a day. */
export interface BurnRates {
  lastHour: number;
  lastDay: number;
  period: number;
  /** Exponentially weighted average of the hours. */
  ewma: number;
}

export const RECOMMENDATIONS = ['CONTINUE', 'THROTTLE', 'PAUSE'] as const;
export type Recommendation = (typeof RECOMMENDATIONS)[number];

export interface Projection {
  rates: BurnRates;
  /** At the rate of the last day; null: nothing was used in it. */
  daysUntilExhaustion: number | null;
  /** At the fastest and at the slowest of the rates; null: at that rate never. */
  range: { earliest: number | null; latest: number | null };
  /** null: never, or not in a hundred years. */
  exhaustedAt: Date | null;
  willLastPeriod: boolean;
  recommendation: Recommendation;
}

/**
 * Whatever is burnt more than now never makes a recommendation milder.
 *
 * PAUSE: nothing is available, or it would be exhausted within an hour at the fastest of the rates. THROTTLE: it would be
 * exhausted within 7 days at the rate of the last day. Both only before the end of the period: a budget that outlives its
 * period, has not begun or is over has CONTINUE.
 */
export function project(facts: ProjectionFacts): Projection {
  const rates = burnRates(facts);
  const daysAt = (rate: number) => daysUntilExhaustion(facts, rate);
  const each = Object.values(rates) as number[];
  const daysUntil = daysAt(rates.lastDay);
  const range = { earliest: daysAt(Math.max(...each)), latest: daysAt(Math.min(...each)) };
  return {
    rates,
    daysUntilExhaustion: daysUntil,
    range,
    exhaustedAt: dateAfter(facts.now, daysUntil),
    willLastPeriod: outlasts(facts, daysUntil),
    recommendation: recommend(facts, { daysUntil, earliest: range.earliest }),
  };
}

function burnRates({ lastHour, lastDay, period, hourly }: ProjectionFacts): BurnRates {
  return {
    lastHour: perDay(lastHour),
    lastDay: perDay(lastDay),
    period: perDay(period),
    ewma: weighted(hourly) * HOURS_A_DAY,
  };
}

function perDay({ tokens, hours }: Used): number {
  return (Number(tokens) / hours) * HOURS_A_DAY;
}

/** Tokens an hour. All hours have their weight, with or without usage: more usage in any of them is always more. */
function weighted(hourly: readonly bigint[]): number {
  let [tokens, weights] = [0, 0];
  for (let ago = 0; ago < HOURS_WEIGHTED; ago++) {
    const weight = 0.5 ** (ago / HALF_LIFE_HOURS);
    tokens += weight * Number(hourly[ago] ?? 0n);
    weights += weight;
  }
  return tokens / weights;
}

/** Days from now; a budget that has not begun is used from its beginning on. */
function daysUntilExhaustion(facts: ProjectionFacts, rate: number): number | null {
  const { now, periodStart, periodEnd, remaining } = facts;
  if (now >= periodEnd) return null;
  const wait = Math.max(0, periodStart.getTime() - now.getTime()) / DAY_MS;
  if (remaining <= 0n) return wait;
  const days = wait + Number(remaining) / rate;
  return Number.isFinite(days) ? days : null;
}

function dateAfter(now: Date, days: number | null): Date | null {
  if (days === null || days > FORESEEN_DAYS) return null;
  return new Date(now.getTime() + Math.round(days * DAY_MS));
}

function outlasts({ now, periodEnd, remaining }: ProjectionFacts, days: number | null): boolean {
  if (now >= periodEnd) return remaining > 0n;
  return days === null || days * DAY_MS >= periodEnd.getTime() - now.getTime();
}

function recommend(
  facts: ProjectionFacts,
  { daysUntil, earliest }: { daysUntil: number | null; earliest: number | null },
): Recommendation {
  const { now, periodStart, periodEnd, available } = facts;
  if (now < periodStart || now >= periodEnd) return 'CONTINUE';
  if (available <= 0n) return 'PAUSE';
  const within = (days: number | null, limit: number) =>
    days !== null && days <= limit && !outlasts(facts, days);
  if (within(earliest, PAUSE_HOURS / HOURS_A_DAY)) return 'PAUSE';
  return within(daysUntil, THROTTLE_DAYS) ? 'THROTTLE' : 'CONTINUE';
}

/** What a scope burnt, by how many runs. */
export interface RunBurn {
  /** Tokens that runs used in the last day. */
  tokens: bigint;
  /** Hours that these runs lasted in it, added up. */
  runHours: number;
}

/**
 * How many runs may go on at once so that a budget lasts its period: what it may use in an hour, divided by what a run
 * uses in an hour, rounded up; at least 1, so that work goes on and the rate of a run stays known. That is the mean number
 * of runs, times how much of their pace the budget can bear. It depends on what a run uses, not on how many there are:
 * a limit that holds does not lower itself again.
 */
export function affordableRuns(
  { now, periodEnd, remaining }: Pick<ProjectionFacts, 'now' | 'periodEnd' | 'remaining'>,
  { tokens, runHours }: RunBurn,
): number {
  const hoursLeft = (periodEnd.getTime() - now.getTime()) / HOUR_MS;
  const runs = Math.ceil((Number(remaining) * runHours) / (Number(tokens) * hoursLeft));
  return runs >= 1 ? Math.min(runs, MAX_RUNS) : 1;
}

const MAX_RUNS = 1_000_000;
