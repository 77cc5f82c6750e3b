/*
 * Projects when a budget will be exhausted at its present usage. It is pure and total: a budget
 * without usage gives nulls, and no number is infinite.
 */

const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;
const DAY_MS = HOURS_A_DAY * HOUR_MS;

/** Usage counts half as much in the weighted average after so many hours. */
export const HALF_LIFE_HOURS = 6;
/**
 * The weighted average looks back so many hours. Earlier hours have less than 1 % of the weight.
 */
export const HOURS_WEIGHTED = 48;
/** A budget is throttled if it is exhausted within these days, and before its period ends. */
const THROTTLE_DAYS = 7;
/** A budget is paused if it is exhausted within these hours at the fastest rate. */
const PAUSE_HOURS = 1;
/** A later date predicts nothing, and a JavaScript date cannot hold each. */
const FORESEEN_DAYS = 36_525;

/** The tokens that were used in some hours. */
export interface Used {
  tokens: bigint;
  hours: number;
}

export interface ProjectionFacts {
  now: Date;
  periodStart: Date;
  periodEnd: Date;
  /** The tokens that are not used. */
  remaining: bigint;
  /** The tokens that are neither used nor held. */
  available: bigint;
  lastHour: Used;
  lastDay: Used;
  /** The usage since the period began. */
  period: Used;
  /** The tokens of each full hour back from now, the latest first. Missing hours count as 0. */
  hourly: readonly bigint[];
}

/** The unit is tokens a day. */
export interface BurnRates {
  lastHour: number;
  lastDay: number;
  period: number;
  /** The exponentially weighted average of the hours. */
  ewma: number;
}

export const RECOMMENDATIONS = ['CONTINUE', 'THROTTLE', 'PAUSE'] as const;
export type Recommendation = (typeof RECOMMENDATIONS)[number];

export interface Projection {
  rates: BurnRates;
  /** The rate of the last day applies. It is null if that day has no usage. */
  daysUntilExhaustion: number | null;
  /** The fastest and the slowest rate apply. Null means never. */
  range: { earliest: number | null; latest: number | null };
  /** It is null if the budget lasts for a hundred years. */
  exhaustedAt: Date | null;
  willLastPeriod: boolean;
  recommendation: Recommendation;
}

/**
 * More usage never makes a recommendation milder.
 *
 * PAUSE: nothing is available, or the budget is exhausted within an hour at the fastest rate.
 * THROTTLE: the budget is exhausted within 7 days at the rate of the last day. Both need an active
 * period: a budget that outlives its period, has not begun or has ended gets CONTINUE.
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
    ewma: weightedHourlyRate(hourly) * HOURS_A_DAY,
  };
}

function perDay({ tokens, hours }: Used): number {
  return (Number(tokens) / hours) * HOURS_A_DAY;
}

/** The unit is tokens an hour. Hours without usage have their weight too, so more usage is more. */
function weightedHourlyRate(hourly: readonly bigint[]): number {
  let [tokens, weights] = [0, 0];
  for (let ago = 0; ago < HOURS_WEIGHTED; ago++) {
    const weight = 0.5 ** (ago / HALF_LIFE_HOURS);
    tokens += weight * Number(hourly[ago] ?? 0n);
    weights += weight;
  }
  return tokens / weights;
}

/** Counts days from now. A budget that has not begun is used from its beginning. */
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

/** The tokens of a scope, and the time of the runs that used them. */
export interface RunBurn {
  /** The tokens that runs used in the last day. */
  tokens: bigint;
  /** The sum of the hours that these runs lasted in that day. */
  runHours: number;
}

/**
 * Computes the number of live runs at which a budget lasts its period: the tokens that the budget
 * can use in an hour, divided by the tokens that a run uses in an hour, rounded up. It is at least
 * 1, so that work continues and the rate of a run stays known. It depends on the usage of a run,
 * not on the number of runs, so a limit that applies does not lower itself again.
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
