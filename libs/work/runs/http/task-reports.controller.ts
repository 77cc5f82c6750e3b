import { Body, Controller, HttpCode, Patch, Post, Put } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { RunCompletion } from '../reports/run-completion.js';
import { RunReports } from '../reports/run-reports.js';
import { TaskReporter } from '../reports/task-reporter.js';
import {
  SaveCheckpointDto,
  CompleteRunDto,
  FailRunDto,
  AddLogsDto,
  ReportProgressDto,
  ReleaseRunDto,
  RenewRunDto,
  StartRunDto,
} from './dto/run-report.dto.js';
import {
  CompletionDto,
  AddedLogsDto,
  ProgressOutcomeDto,
  RenewalDto,
  ReportOutcomeDto,
} from './dto/run-answers.dto.js';

/** The same reports under the task's path. The run token or `runId` names the run. */
@ApiTags('Runs')
@Controller('agent-tasks/:id')
@Auth({ kinds: ['agent', 'run'] })
@ApiErrors('task_not_found', 'run_required', 'stale_run', 'illegal_transition')
export class TaskReportsController {
  constructor(
    private readonly reporter: TaskReporter,
    private readonly reports: RunReports,
    private readonly completion: RunCompletion,
  ) {}

  @Post('start')
  @HttpCode(200)
  @ApiOkResponse({ type: ReportOutcomeDto })
  @ApiOperation({ summary: 'Start a run' })
  async start(@CurrentCaller() caller: Caller, @UuidParam() id: string, @Body() body: StartRunDto) {
    return this.reports.start(await this.reporter.of(caller, id, body.runId), body);
  }

  @Patch('progress')
  @ApiOkResponse({ type: ProgressOutcomeDto })
  @ApiOperation({ operationId: 'reportTaskProgress', summary: 'Report the progress of a run' })
  async progress(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ReportProgressDto,
  ) {
    return this.reports.progress(await this.reporter.of(caller, id, body.runId), body);
  }

  @Put('checkpoint')
  @ApiOkResponse({ type: ProgressOutcomeDto })
  @ApiOperation({
    operationId: 'saveTaskCheckpoint',
    summary: 'Save a checkpoint for a later run',
  })
  async checkpoint(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: SaveCheckpointDto,
  ) {
    return this.reports.progress(await this.reporter.of(caller, id, body.runId), body);
  }

  @Post('logs')
  @HttpCode(202)
  @ApiAcceptedResponse({ type: AddedLogsDto })
  @ApiOperation({ operationId: 'addTaskLogs', summary: 'Add up to 200 log entries' })
  async logs(@CurrentCaller() caller: Caller, @UuidParam() id: string, @Body() body: AddLogsDto) {
    return this.reports.logs(await this.reporter.of(caller, id, body.runId), body.entries);
  }

  @Post('renew')
  @HttpCode(200)
  @ApiOkResponse({ type: RenewalDto })
  @ApiOperation({ summary: 'Renew the lease of a run' })
  async renew(@CurrentCaller() caller: Caller, @UuidParam() id: string, @Body() body: RenewRunDto) {
    return this.reports.renew(await this.reporter.of(caller, id, body.runId), body.leaseSeconds);
  }

  @Post('complete')
  @HttpCode(200)
  @ApiOkResponse({ type: CompletionDto })
  @ApiOperation({ summary: 'Complete the run of a task' })
  async complete(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: CompleteRunDto,
  ) {
    return this.completion.complete(await this.reporter.of(caller, id, body.runId), body);
  }

  @Post('fail')
  @HttpCode(200)
  @ApiOkResponse({ type: ReportOutcomeDto })
  @ApiOperation({ summary: 'Fail the run of a task' })
  async fail(@CurrentCaller() caller: Caller, @UuidParam() id: string, @Body() body: FailRunDto) {
    return this.reports.fail(await this.reporter.of(caller, id, body.runId), body);
  }

  @Post('release')
  @HttpCode(200)
  @ApiOkResponse({ type: ReportOutcomeDto })
  @ApiOperation({ summary: 'Release the run of a task' })
  async release(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ReleaseRunDto,
  ) {
    return this.reports.release(await this.reporter.of(caller, id, body.runId), body);
  }
}
