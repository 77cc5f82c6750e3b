import { Injectable } from '@nestjs/common';
import type { SweepResult } from '#lib/transitions';
import { alertsDue, tellBudgetAlerts, UsageView } from '#lib/budgets';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAtOnceIf } from './due.sql.js';

/** Sends the alerts of budgets that reached a threshold, if the usage that reached it sent none. */
@Injectable()
export class TellBudgetAlerts implements Reconciler {
  static readonly facts = {
    name: 'tell_budget_alerts',
    counter: 'budgetAlerts',
    moves: 'budgets used up to 50, 75, 90 or 100 %: `budget.alert`',
    due: dueAtOnceIf(alertsDue),
  } as const satisfies ReconcilerFacts;

  constructor(private readonly view: UsageView) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const alerted = await pass.apply(tellBudgetAlerts);
    await this.view.refresh(alerted);
    return pass.countMoved(alerted);
  }
}
