import { Injectable } from '@nestjs/common';
import { BudgetPeriods, duePeriods, nextPeriodDue } from '#lib/budgets';
import type { SweepResult } from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAt } from './due.sql.js';

/** Gives recurring budgets their next period, and tells of budgets that end. */
@Injectable()
export class EndBudgetPeriods implements Reconciler {
  static readonly facts = {
    name: 'end_budget_periods',
    counter: 'budgetPeriodsEnded',
    moves: 'budgets whose period ends: renewed, `budget.ending`, `budget.ended`',
    due: dueAt(nextPeriodDue),
  } as const satisfies ReconcilerFacts;

  constructor(private readonly periods: BudgetPeriods) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const due = new Map<string, string[]>();
    for (const { workspace_id: workspaceId, id } of await pass.find(duePeriods)) {
      due.set(workspaceId, [...(due.get(workspaceId) ?? []), id]);
    }
    const ended = [];
    // One transaction each: a closed ledger keeps the reports of its workspace waiting.
    for (const [workspaceId, ids] of due) {
      const end = { workspaceId, ids };
      ended.push(...(await this.periods.end((work) => pass.transaction(work), end)));
    }
    return pass.countMoved(ended);
  }
}
