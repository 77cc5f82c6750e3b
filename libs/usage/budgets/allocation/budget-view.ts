import type { BudgetPolicy, BudgetScope, Every } from '../domain/budget.js';
import { percentUsed } from '../domain/compliance.js';
import type { BudgetRow } from '../store/budget.sql.js';

/** The repetition of a budget's period. */
export interface RecurrenceView {
  every: Every;
  timeZone: string;
  /** The tokens of each later period. */
  allocated: string;
}

/** A budget as the API shows it. Tokens are 64-bit numbers as text. */
export interface BudgetView {
  id: string;
  scope: BudgetScope;
  scopeId: string;
  scopeName: string | null;
  allocated: string;
  reserved: string;
  consumed: string;
  remaining: string;
  available: string;
  percentUsed: number;
  periodStart: string;
  periodEnd: string;
  recurrence: RecurrenceView | null;
  policy: BudgetPolicy;
  isActive: boolean;
  version: number;
  createdAt: string;
  updatedAt: string;
}

export function toBudgetView(row: BudgetRow): BudgetView {
  return {
    id: row.id,
    scope: row.scope,
    scopeId: row.scope_id,
    scopeName: row.scope_name,
    allocated: row.allocated,
    reserved: row.reserved,
    consumed: row.consumed,
    remaining: row.remaining,
    available: row.available,
    percentUsed: percentUsed(BigInt(row.allocated), BigInt(row.consumed)),
    periodStart: row.period_start.toISOString(),
    periodEnd: row.period_end.toISOString(),
    recurrence: recurrenceOf(row),
    policy: row.policy,
    isActive: row.is_active,
    version: row.version,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function recurrenceOf(row: BudgetRow): RecurrenceView | null {
  const { every, time_zone: timeZone, renewed_allocation: allocated } = row;
  if (every === null || timeZone === null || allocated === null) return null;
  return { every, timeZone, allocated };
}
