import type { Standing } from '../domain/compliance.js';
import type { ChargedBudgetRow } from './lock-charged.sql.js';

export function toStanding(row: ChargedBudgetRow): Standing {
  return {
    id: row.id,
    scope: row.scope,
    scopeId: row.scope_id,
    allocated: BigInt(row.allocated),
    consumed: BigInt(row.consumed),
    reserved: BigInt(row.reserved),
    policy: row.policy,
    isActive: row.is_active,
  };
}
