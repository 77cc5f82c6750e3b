import { Module } from '@nestjs/common';
import { LedgerModule } from '#lib/ledger';
import { ModelsModule } from '#lib/models';
import { BudgetAlerts } from './alerts/budget-alerts.js';
import { Budgets } from './allocation/budgets.js';
import { UsageCharges } from './charges/usage-charges.js';
import { RunBudgets } from './checks/run-budgets.js';
import { BudgetAlertsController } from './http/budget-alerts.controller.js';
import { BudgetsController } from './http/budgets.controller.js';
import { PastPeriodsController } from './http/past-periods.controller.js';
import { ProjectionController } from './http/projection.controller.js';
import { RequestHolds } from './holds/request-holds.js';
import { BudgetPeriods } from './periods/budget-periods.js';
import { PastPeriods } from './periods/past-periods.js';
import { Projections } from './projection/projections.js';
import { Throttles } from './throttling/throttles.js';
import { UsageFollower } from './view/usage-follower.js';
import { UsageView } from './view/usage-view.js';

/** Keeps budgets and holds, and charges usage. */
@Module({
  imports: [LedgerModule, ModelsModule],
  controllers: [
    BudgetsController,
    BudgetAlertsController,
    PastPeriodsController,
    ProjectionController,
  ],
  providers: [
    BudgetAlerts,
    BudgetPeriods,
    Budgets,
    PastPeriods,
    Projections,
    RequestHolds,
    RunBudgets,
    Throttles,
    UsageFollower,
    UsageCharges,
    UsageView,
  ],
  exports: [BudgetPeriods, RequestHolds, RunBudgets, Throttles, UsageCharges, UsageView],
})
export class BudgetsModule {}
