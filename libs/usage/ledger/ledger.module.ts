import { Module } from '@nestjs/common';
import { UsageReports } from './completed-tasks/usage-reports.js';
import { UsageHistory } from './history/usage-history.js';
import { UsageHistoryController } from './http/usage-history.controller.js';
import { UsageReportsController } from './http/usage-reports.controller.js';
import { UsageRollup } from './sums/usage-rollup.js';

/** What was used: single reports, their sums, and what completed tasks used of them. */
@Module({
  controllers: [UsageHistoryController, UsageReportsController],
  providers: [UsageHistory, UsageReports, UsageRollup],
  exports: [UsageRollup],
})
export class LedgerModule {}
