import type { Transaction } from '#lib/database';
import type { Standing } from '../domain/compliance.js';
import { lockChargedBudgets } from './lock-charged.sql.js';
import { toStanding } from './standing.js';

/** Locks the budgets that cover locked runs now, and those that the runs hold: last of all, by id. */
export async function lockBudgets(
  tx: Transaction,
  workspaceId: string,
  runs: readonly { scopes: readonly (string | null)[]; heldOf: readonly string[] }[],
): Promise<Standing[]> {
  const scopes = runs.flatMap((run) => run.scopes.filter((scope) => scope !== null));
  const held = runs.flatMap(({ heldOf }) => heldOf);
  const rows = await tx.rows(lockChargedBudgets, [workspaceId, scopes, held]);
  return rows.map(toStanding);
}

/** Writes rows with bigints as the JSON of a statement. */
export function toJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
