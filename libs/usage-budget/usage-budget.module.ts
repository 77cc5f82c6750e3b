import { Module } from '@nestjs/common';
import { ModelPricesController } from './http/model-prices.controller.js';
import { ModelRoutingController } from './http/model-routing.controller.js';
import { ModelPrices } from './prices/model-prices.js';
import { PriceKeeper } from './prices/price-keeper.js';
import { ModelRouting } from './routing/model-routing.js';
import { RoutingSavings } from './routing/routing-savings.js';

/** What may be used, what is held and what was used of it. */
@Module({
  controllers: [ModelPricesController, ModelRoutingController],
  providers: [ModelPrices, PriceKeeper, ModelRouting, RoutingSavings],
  exports: [ModelPrices, ModelRouting],
})
export class UsageBudgetModule {}
