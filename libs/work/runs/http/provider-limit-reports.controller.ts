import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { ProviderLimitReports } from '../reports/provider-limit-reports.js';
import { reporterOf } from '../reports/reporter.js';
import { TaskReporter } from '../reports/task-reporter.js';
import { ProviderLimitOutcomeDto, ReportProviderLimitDto } from './dto/provider-limit.dto.js';

/** Refusals by providers. Reports about ended runs are accepted too. */
@ApiTags('Runs')
@Controller()
@Auth({ kinds: ['agent', 'run'] })
@ApiErrors('validation_failed')
export class ProviderLimitReportsController {
  constructor(
    private readonly reporter: TaskReporter,
    private readonly limits: ProviderLimitReports,
  ) {}

  @Post('runs/:runId/provider-limits')
  @HttpCode(200)
  @ApiOkResponse({ type: ProviderLimitOutcomeDto })
  @ApiErrors('run_not_found')
  @ApiOperation({
    operationId: 'reportRunProviderLimit',
    summary: 'Report a limit of a provider; the task returns to the queue and waits',
  })
  ofRun(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: ReportProviderLimitDto,
  ) {
    return this.limits.report(reporterOf(caller, runId, body.runId), body);
  }

  @Post('agent-tasks/:id/provider-limits')
  @HttpCode(200)
  @ApiOkResponse({ type: ProviderLimitOutcomeDto })
  @ApiErrors('task_not_found', 'run_required', 'run_not_found')
  @ApiOperation({
    operationId: 'reportTaskProviderLimit',
    summary: 'Report under the path of the task',
  })
  async ofTask(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ReportProviderLimitDto,
  ) {
    return this.limits.report(await this.reporter.of(caller, id, body.runId), body);
  }
}
