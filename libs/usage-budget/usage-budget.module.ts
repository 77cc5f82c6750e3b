import { Module } from '@nestjs/common';

/** What may be used, what is held and what was used of it. */
@Module({})
export class UsageBudgetModule {}
