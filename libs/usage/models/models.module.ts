import { Module } from '@nestjs/common';
import { Estimates } from './estimates/estimates.js';
import { ModelPricesController } from './http/model-prices.controller.js';
import { ModelRoutingController } from './http/model-routing.controller.js';
import { ModelPrices } from './prices/model-prices.js';
import { PriceKeeper } from './prices/price-keeper.js';
import { ModelRouting } from './routing/model-routing.js';
import { RoutingSavings } from './savings/routing-savings.js';

/** Keeps prices, chooses the models of tasks, and estimates their tokens. */
@Module({
  controllers: [ModelPricesController, ModelRoutingController],
  providers: [Estimates, ModelPrices, ModelRouting, PriceKeeper, RoutingSavings],
  exports: [Estimates, ModelPrices, ModelRouting],
})
export class ModelsModule {}
