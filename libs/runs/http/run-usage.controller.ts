import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { reporterOf } from '../reporter.js';
import { RunUsage } from '../run-usage.js';
import { TaskReporter } from '../task-reporter.js';
import { UsageDto, UsageOutcomeDto } from './dto/usage.dto.js';

/** What runs have used; accepted of ended ones, too. */
@ApiTags('Runs')
@Controller()
@Auth({ kinds: ['agent', 'run'] })
@ApiErrors('validation_failed', 'unknown_model', 'usage_report_conflict')
export class RunUsageController {
  constructor(
    private readonly reporter: TaskReporter,
    private readonly usage: RunUsage,
  ) {}

  @Post('runs/:runId/usage')
  @HttpCode(200)
  @ApiOkResponse({ type: UsageOutcomeDto })
  @ApiErrors('run_not_found')
  @ApiOperation({
    operationId: 'reportRunUsage',
    summary: 'The tokens that the run has used; up to 100 reports, each counted once',
  })
  ofRun(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: UsageDto,
  ) {
    return this.usage.report(reporterOf(caller, runId, body.runId), body.reports);
  }

  @Post('agent-tasks/:id/usage')
  @HttpCode(200)
  @ApiOkResponse({ type: UsageOutcomeDto })
  @ApiErrors('task_not_found', 'run_required')
  @ApiOperation({
    operationId: 'reportTaskUsage',
    summary: 'The same under the path of the task',
  })
  async ofTask(@CurrentCaller() caller: Caller, @UuidParam() id: string, @Body() body: UsageDto) {
    return this.usage.report(await this.reporter.of(caller, id, body.runId), body.reports);
  }
}
