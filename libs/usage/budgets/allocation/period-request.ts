import { DroverError } from '#lib/kernel';
import type { Recurrence } from '../domain/budget.js';

/** The period of a budget in a request. */
interface PeriodRequest {
  periodStart?: string;
  periodEnd?: string;
  recurrence?: Recurrence | null;
}

/** @throws DroverError `validation_failed` */
export function validateNewPeriod(request: PeriodRequest): void {
  const { periodStart, periodEnd, recurrence } = request;
  if (recurrence) return refuseEnd(request);
  if (periodStart === undefined) throw invalidField('periodStart', REQUIRED);
  if (periodEnd === undefined) throw invalidField('periodEnd', REQUIRED);
  validateOrder(periodStart, periodEnd);
}

/** @throws DroverError `validation_failed` */
export function validateChangedPeriod(
  change: PeriodRequest,
  known: { periodStart: string; periodEnd: string; recurrence: object | null },
): void {
  const { periodStart, periodEnd, recurrence } = change;
  if (recurrence) return refuseEnd(change);
  if (known.recurrence === null || recurrence === null) {
    return validateOrder(periodStart ?? known.periodStart, periodEnd ?? known.periodEnd);
  }
  if (periodStart !== undefined) throw invalidField('periodStart', NEEDS_RULE);
  if (periodEnd !== undefined) throw invalidField('periodEnd', NEEDS_RULE);
}

/** The length and the time zone of the periods, as parameters of statements. */
export function ruleOf({ recurrence }: PeriodRequest): [string | null, string | null] {
  return [recurrence?.every ?? null, recurrence ? (recurrence.timeZone ?? 'UTC') : null];
}

export function invalidField(field: string, message: string): DroverError {
  return new DroverError('validation_failed', { errors: [{ field, message }] });
}

const REQUIRED = 'is required without recurrence';
const NEEDS_RULE = 'must come with recurrence, because the budget recurs';

function refuseEnd({ periodEnd }: PeriodRequest): void {
  if (periodEnd === undefined) return;
  throw invalidField('periodEnd', 'must be left out with recurrence');
}

function validateOrder(periodStart: string, periodEnd: string): void {
  if (Date.parse(periodStart) < Date.parse(periodEnd)) return;
  throw invalidField('periodEnd', 'must be after periodStart');
}
