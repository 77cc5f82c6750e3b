import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { UsageReports } from '../completed-tasks/usage-reports.js';
import {
  CostsQuery,
  EstimateReportDto,
  EstimatesQuery,
  UsageCostPageDto,
} from './usage-reports.dto.js';

@ApiTags('Usage')
@Controller('usage')
@Auth({ scope: 'tasks:read' })
export class UsageReportsController {
  constructor(private readonly reports: UsageReports) {}

  @Get('estimates')
  @ApiOperation({
    operationId: 'getEstimateReport',
    summary: 'Compare the estimates of completed tasks with their usage',
  })
  @ApiOkResponse({ type: EstimateReportDto })
  @ApiErrors('validation_failed')
  estimates(@CurrentCaller() { workspaceId }: Caller, @Query() query: EstimatesQuery) {
    return this.reports.estimates(workspaceId, query);
  }

  @Get('costs')
  @ApiOperation({
    operationId: 'listUsageCosts',
    summary: 'List the costs of completed tasks, or the costs per outcome of projects',
  })
  @ApiOkResponse({ type: UsageCostPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  costs(@CurrentCaller() { workspaceId }: Caller, @Query() query: CostsQuery) {
    return this.reports.costs(workspaceId, { ...query, groupBy: query.groupBy ?? 'task' });
  }
}
