import { Module } from '@nestjs/common';
import { UsageReports } from './completed-tasks/usage-reports.js';
import { TaskUsage } from './history/task-usage.js';
import { UsageHistory } from './history/usage-history.js';
import { TaskUsageController } from './http/task-usage.controller.js';
import { UsageHistoryController } from './http/usage-history.controller.js';
import { UsageReportsController } from './http/usage-reports.controller.js';
import { UsageRollup } from './sums/usage-rollup.js';

/** Records usage, sums it up, and reports the usage of completed tasks. */
@Module({
  controllers: [TaskUsageController, UsageHistoryController, UsageReportsController],
  providers: [TaskUsage, UsageHistory, UsageReports, UsageRollup],
  exports: [UsageRollup],
})
export class LedgerModule {}
