import { Module } from '@nestjs/common';
import { Estimates } from './estimates/estimates.service.js';
import { UsageReports } from './estimates/usage-reports.service.js';
import { ProjectionController } from './http/projection.controller.js';
import { UsageReportsController } from './http/usage-reports.controller.js';
import { Projections } from './projection/projections.service.js';
import { Throttles } from './throttling/throttles.service.js';

/** What may be used, what is held and what was used of it. */
@Module({
  controllers: [UsageReportsController, ProjectionController],
  providers: [Estimates, UsageReports, Projections, Throttles],
  exports: [Estimates, Throttles],
})
export class UsageBudgetModule {}
