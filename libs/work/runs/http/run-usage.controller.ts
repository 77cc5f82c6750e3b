import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { RunBudgets } from '#lib/budgets';
import { reporterOf } from '../reports/reporter.js';
import { RunUsage } from '../reports/run-usage.js';
import { TaskReporter } from '../reports/task-reporter.js';
import { RunBudgetDto, RunBudgetQuery, ReportUsageDto, UsageOutcomeDto } from './dto/usage.dto.js';

/** Usage of runs. Reports about ended runs are accepted too. */
@ApiTags('Runs')
@Controller()
@Auth({ kinds: ['agent', 'run'] })
@ApiErrors('validation_failed')
export class RunUsageController {
  constructor(
    private readonly reporter: TaskReporter,
    private readonly usage: RunUsage,
    private readonly budgets: RunBudgets,
  ) {}

  @Get('runs/:runId/budget')
  @ApiOkResponse({ type: RunBudgetDto })
  @ApiErrors('run_not_found')
  @ApiOperation({
    operationId: 'getRunBudget',
    summary: 'Get advice on whether a run should continue within its budgets',
  })
  ofBudget(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Query() { linesChanged }: RunBudgetQuery,
  ) {
    return this.budgets.check(reporterOf(caller, runId), linesChanged);
  }

  @Post('runs/:runId/usage')
  @HttpCode(200)
  @ApiOkResponse({ type: UsageOutcomeDto })
  @ApiErrors('run_not_found', 'unknown_model', 'usage_report_conflict')
  @ApiOperation({
    operationId: 'reportRunUsage',
    summary: 'Report up to 100 usages of tokens, each counted once',
  })
  ofRun(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: ReportUsageDto,
  ) {
    return this.usage.report(reporterOf(caller, runId, body.runId), body.reports);
  }

  @Post('agent-tasks/:id/usage')
  @HttpCode(200)
  @ApiOkResponse({ type: UsageOutcomeDto })
  @ApiErrors('task_not_found', 'run_required', 'unknown_model', 'usage_report_conflict')
  @ApiOperation({
    operationId: 'reportTaskUsage',
    summary: 'Report under the path of the task',
  })
  async ofTask(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ReportUsageDto,
  ) {
    return this.usage.report(await this.reporter.of(caller, id, body.runId), body.reports);
  }
}
