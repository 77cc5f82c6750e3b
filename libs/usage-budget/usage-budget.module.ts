import { Module } from '@nestjs/common';
import { Budgets } from './budgets/budgets.service.js';
import { BudgetsController } from './http/budgets.controller.js';
import { Prices } from './ledger/prices.js';
import { UsageLedger } from './ledger/usage-ledger.js';

/** What may be used, what is held and what was used of it. */
@Module({
  controllers: [BudgetsController],
  providers: [Budgets, Prices, UsageLedger],
  exports: [UsageLedger],
})
export class UsageBudgetModule {}
