import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError, type Page, toPage } from '#lib/kernel';
import { findBudget } from '../allocation/budgets.sql.js';
import { type AlertRow, listBudgetAlerts } from './alerts.sql.js';

/** A step that a budget has reached. Tokens are 64-bit numbers as text. */
export interface BudgetAlertView {
  at: string;
  level: 'warning' | 'critical';
  threshold: number;
  percentUsed: number;
  allocated: string;
  consumed: string;
  message: string;
}

/** What was told of budgets: read from the journal, which keeps it as long as all events. */
@Injectable()
export class BudgetAlerts {
  constructor(private readonly database: Database) {}

  /**
   * The newest first.
   *
   * @param page.before the journal's id of the last alert of the page before; null: from the newest
   * @throws DroverError `budget_not_found`
   */
  async list(
    { workspaceId }: Caller,
    id: string,
    { limit, before }: { limit: number; before: string | null },
  ): Promise<Page<BudgetAlertView>> {
    const tenant = this.database.tenant(workspaceId);
    const budget = await firstRow(tenant, findBudget, [workspaceId, id]);
    if (!budget) throw new DroverError('budget_not_found');
    const params = [workspaceId, budget.id, before, limit + 1];
    const rows = await tenant.rows(listBudgetAlerts, params);
    return toPage(rows, limit, (row) => [row.id], toView);
  }
}

function toView({ created_at, percent_used, ...row }: AlertRow): BudgetAlertView {
  const { level, threshold, allocated, consumed, message } = row;
  const at = created_at.toISOString();
  return { at, level, threshold, percentUsed: Number(percent_used), allocated, consumed, message };
}
