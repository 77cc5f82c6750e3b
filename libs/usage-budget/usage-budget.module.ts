import { Module } from '@nestjs/common';
import { Budgets } from './budgets/budgets.service.js';
import { BudgetsController } from './http/budgets.controller.js';
import { ModelPricesController } from './http/model-prices.controller.js';
import { ModelRoutingController } from './http/model-routing.controller.js';
import { UsageLedger } from './ledger/usage-ledger.js';
import { ModelPrices } from './prices/model-prices.js';
import { PriceKeeper } from './prices/price-keeper.js';
import { ModelRouting } from './routing/model-routing.js';
import { RoutingSavings } from './routing/routing-savings.js';

/** What may be used, what is held and what was used of it. */
@Module({
  controllers: [BudgetsController, ModelPricesController, ModelRoutingController],
  providers: [Budgets, UsageLedger, ModelPrices, PriceKeeper, ModelRouting, RoutingSavings],
  exports: [UsageLedger, ModelPrices, ModelRouting],
})
export class UsageBudgetModule {}
