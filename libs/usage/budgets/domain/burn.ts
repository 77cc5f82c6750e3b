import { HOURS_WEIGHTED, type ProjectionFacts } from './projection.js';

const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;

/** A budget with the tokens of the last hours. Bigints are text. */
export interface Burn {
  now: Date;
  period_start: Date;
  period_end: Date;
  consumed: string;
  remaining: string;
  available: string;
  /** The tokens by full hours back from now. Hours without usage are missing. */
  hourly: Readonly<Record<string, string>>;
}

/** A period counts as at least an hour old: usage of a minute predicts little of a day. */
export function projectionFacts(burn: Burn): ProjectionFacts {
  const { now, period_start: periodStart, period_end: periodEnd, consumed } = burn;
  const hourly = Array.from({ length: HOURS_WEIGHTED }, (_, ago) => BigInt(burn.hourly[ago] ?? 0));
  const until = now < periodEnd ? now : periodEnd;
  const hours = Math.max(1, (until.getTime() - periodStart.getTime()) / HOUR_MS);
  return {
    now,
    periodStart,
    periodEnd,
    hourly,
    remaining: BigInt(burn.remaining),
    available: BigInt(burn.available),
    lastHour: { tokens: hourly[0] ?? 0n, hours: 1 },
    lastDay: { tokens: sum(hourly.slice(0, HOURS_A_DAY)), hours: HOURS_A_DAY },
    period: { tokens: BigInt(consumed), hours },
  };
}

function sum(tokens: readonly bigint[]): bigint {
  return tokens.reduce((total, one) => total + one, 0n);
}
