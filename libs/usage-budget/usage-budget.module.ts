import { Module } from '@nestjs/common';
import { UsageHistoryController } from './history/http/usage-history.controller.js';
import { UsageFollower } from './history/usage-follower.js';
import { UsageHistory } from './history/usage-history.js';
import { UsageRollup } from './history/usage-rollup.js';
import { UsageView } from './history/usage-view.js';

/** What may be used, what is held and what was used of it. */
@Module({
  controllers: [UsageHistoryController],
  providers: [UsageHistory, UsageRollup, UsageView, UsageFollower],
  exports: [UsageView],
})
export class UsageBudgetModule {}
