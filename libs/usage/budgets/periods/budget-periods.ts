import { Injectable } from '@nestjs/common';
import type { Transaction } from '#lib/database';
import { closeLedger } from '#lib/ledger';
import { WakeUps } from '#lib/valkey';
import { MAX_ALERTED, tellBudgetAlerts } from '../store/tell-budget-alerts.sql.js';
import { UsageView } from '../view/usage-view.js';
import { endPeriods, type PeriodRow } from './end-periods.sql.js';

/** Ends the periods of budgets: renews recurring ones, and gives notice of the ends of others. */
@Injectable()
export class BudgetPeriods {
  constructor(
    private readonly view: UsageView,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * No usage is recorded meanwhile, so each report counts in one period.
   *
   * @param transact runs a transaction of the service role
   * @returns the budgets that have ended, or will soon
   */
  async end(
    transact: <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>,
    { workspaceId, ids }: { workspaceId: string; ids: readonly string[] },
  ): Promise<PeriodRow[]> {
    const ended = await transact(async (tx) => {
      await tx.rows(closeLedger, [workspaceId]);
      const rows = await tx.rows(endPeriods, [workspaceId, ids]);
      // A renewed budget is below its thresholds, and can reach them again.
      await tx.rows(tellBudgetAlerts, [MAX_ALERTED, workspaceId]);
      return rows;
    });
    if (ended.some(({ has_ended }) => has_ended)) {
      await this.view.refresh(ended);
      this.wakeUps.manyClaims(workspaceId);
    }
    return ended;
  }
}
