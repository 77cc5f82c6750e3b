import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError, type Page, toPage } from '#lib/kernel';
import { findBudget } from '../store/budget.sql.js';
import { listPastPeriods, type PastPeriodRow } from './list-past-periods.sql.js';

/** A period that has ended, with its figures at that time. Tokens are 64-bit numbers as text. */
export interface PastPeriodView {
  periodStart: string;
  periodEnd: string;
  allocated: string;
  consumed: string;
}

/** Lists the ended periods of budgets from the journal, which keeps them as long as all events. */
@Injectable()
export class PastPeriods {
  constructor(private readonly database: Database) {}

  /**
   * Lists the newest first.
   *
   * @param page.before the journal's id of the last period of the previous page, or null
   * @throws DroverError `budget_not_found`
   */
  async list(
    { workspaceId }: Caller,
    id: string,
    { limit, before }: { limit: number; before: string | null },
  ): Promise<Page<PastPeriodView>> {
    const tenant = this.database.tenant(workspaceId);
    const budget = await firstRow(tenant, findBudget, [workspaceId, id]);
    if (!budget) throw new DroverError('budget_not_found');
    const rows = await tenant.rows(listPastPeriods, [workspaceId, budget.id, before, limit + 1]);
    return toPage(rows, limit, (row) => [row.id], toView);
  }
}

function toView({ period_start, period_end, allocated, consumed }: PastPeriodRow): PastPeriodView {
  return { periodStart: period_start, periodEnd: period_end, allocated, consumed };
}
