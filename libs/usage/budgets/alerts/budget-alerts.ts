import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError, type Page, toPage } from '#lib/kernel';
import { findBudget } from '../store/budget.sql.js';
import { type AlertRow, listBudgetAlerts } from './list-budget-alerts.sql.js';

/** A threshold that a budget has reached. Tokens are 64-bit numbers as text. */
export interface BudgetAlertView {
  at: string;
  level: 'warning' | 'critical';
  threshold: number;
  percentUsed: number;
  allocated: string;
  consumed: string;
  message: string;
}

/** Lists the alerts of budgets from the journal, which keeps them as long as all events. */
@Injectable()
export class BudgetAlerts {
  constructor(private readonly database: Database) {}

  /**
   * Lists the newest first.
   *
   * @param page.before the journal's id of the last alert of the previous page, or null
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
