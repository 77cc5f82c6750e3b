import { Module } from '@nestjs/common';
import { BudgetsModule } from '#lib/budgets';
import { LedgerModule } from '#lib/ledger';
import { ModelsModule } from '#lib/models';
import { ProviderLimitsModule } from '#lib/provider-limits';

const PARTS = [LedgerModule, ModelsModule, ProviderLimitsModule, BudgetsModule];

/** Joins the four libraries of usage and budgets. */
@Module({ imports: PARTS, exports: PARTS })
export class UsageBudgetModule {}
