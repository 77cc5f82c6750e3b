import { Module } from '@nestjs/common';
import { Budgets } from './budgets/budgets.service.js';
import { RunBudgets } from './budgets/run-budgets.js';
import { Estimates } from './estimates/estimates.service.js';
import { UsageReports } from './estimates/usage-reports.service.js';
import { UsageHistoryController } from './history/http/usage-history.controller.js';
import { UsageFollower } from './history/usage-follower.js';
import { UsageHistory } from './history/usage-history.js';
import { UsageRollup } from './history/usage-rollup.js';
import { UsageView } from './history/usage-view.js';
import { BudgetsController } from './http/budgets.controller.js';
import { ModelPricesController } from './http/model-prices.controller.js';
import { ModelRoutingController } from './http/model-routing.controller.js';
import { BudgetAlerts } from './history/budget-alerts.js';
import { BudgetAlertsController } from './http/budget-alerts.controller.js';
import { ProjectionController } from './http/projection.controller.js';
import { ProviderLimitsController } from './http/provider-limits.controller.js';
import { UsageReportsController } from './http/usage-reports.controller.js';
import { UsageLedger } from './ledger/usage-ledger.js';
import { ModelPrices } from './prices/model-prices.js';
import { PriceKeeper } from './prices/price-keeper.js';
import { Projections } from './projection/projections.service.js';
import { ProviderLimits } from './provider-limits/provider-limits.service.js';
import { ModelRouting } from './routing/model-routing.js';
import { RoutingSavings } from './routing/routing-savings.js';
import { Throttles } from './throttling/throttles.service.js';

const HISTORY = [BudgetAlerts, UsageHistory, UsageRollup, UsageView, UsageFollower];
const FORESIGHT = [Estimates, UsageReports, Projections, Throttles];
const MODELS = [ModelPrices, PriceKeeper, ModelRouting, RoutingSavings, ProviderLimits];

/** What may be used, what is held and what was used of it. */
@Module({
  controllers: [
    BudgetsController,
    ModelPricesController,
    ModelRoutingController,
    UsageHistoryController,
    UsageReportsController,
    BudgetAlertsController,
    ProjectionController,
    ProviderLimitsController,
  ],
  providers: [Budgets, RunBudgets, UsageLedger, ...MODELS, ...HISTORY, ...FORESIGHT],
  exports: [
    UsageLedger,
    RunBudgets,
    ModelPrices,
    ModelRouting,
    UsageView,
    Estimates,
    Throttles,
    ProviderLimits,
  ],
})
export class UsageBudgetModule {}
