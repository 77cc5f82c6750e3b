import { DroverError } from '#lib/kernel';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;

/** The bounds of a time in RFC 3339, such as that of a completion. The second one is outside. */
export interface Period {
  /** Default: 30 days before `to`. */
  from?: string;
  /** Default: now. */
  to?: string;
}

/** @throws DroverError `validation_failed` for more than 366 days, and for bounds in the wrong order */
export function boundsOf({ from, to }: Period): [Date, Date] {
  const end = to === undefined ? new Date() : new Date(to);
  const start =
    from === undefined ? new Date(end.getTime() - DEFAULT_DAYS * DAY_MS) : new Date(from);
  const days = (end.getTime() - start.getTime()) / DAY_MS;
  if (days > 0 && days <= MAX_DAYS) return [start, end];
  const message = `must be before \`to\`, by ${MAX_DAYS} days at most`;
  throw new DroverError('validation_failed', { errors: [{ field: 'from', message }] });
}

/** The values below which a tenth, a half and nine tenths of the measured ones lie. */
export interface Quantiles<Value = string> {
  p10: Value;
  p50: Value;
  p90: Value;
}

export function toQuantiles<Value>(values: readonly Value[] | null): Quantiles<Value> | null {
  const [p10, p50, p90] = values ?? [];
  return p10 === undefined || p50 === undefined || p90 === undefined ? null : { p10, p50, p90 };
}
