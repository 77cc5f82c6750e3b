import { Body, Controller, HttpCode, Patch, Post, Put } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Hot, type HotCall, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { reporterOf } from '../reports/reporter.js';
import { RunCompletion } from '../reports/run-completion.js';
import { RunReports } from '../reports/run-reports.js';
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

@ApiTags('Runs')
@Controller('runs/:runId')
@Auth({ kinds: ['agent', 'run'] })
@ApiErrors('run_not_found', 'stale_run', 'illegal_transition')
export class RunsController {
  constructor(
    private readonly reports: RunReports,
    private readonly completion: RunCompletion,
  ) {}

  @Post('start')
  @HttpCode(200)
  @ApiOkResponse({ type: ReportOutcomeDto })
  @ApiOperation({ summary: 'Start a run' })
  start(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: StartRunDto,
  ) {
    return this.reports.start(reporterOf(caller, runId, body.runId), body);
  }

  @Patch('progress')
  @ApiOkResponse({ type: ProgressOutcomeDto })
  @ApiOperation({ operationId: 'reportRunProgress', summary: 'Report the progress of a run' })
  progress(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: ReportProgressDto,
  ) {
    return this.reports.progress(reporterOf(caller, runId, body.runId), body);
  }

  @Put('checkpoint')
  @ApiOkResponse({ type: ProgressOutcomeDto })
  @ApiOperation({
    operationId: 'saveRunCheckpoint',
    summary: 'Save a checkpoint for a later run',
  })
  checkpoint(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: SaveCheckpointDto,
  ) {
    return this.reports.progress(reporterOf(caller, runId, body.runId), body);
  }

  @Post('logs')
  @HttpCode(202)
  @ApiAcceptedResponse({ type: AddedLogsDto })
  @ApiOperation({ operationId: 'addRunLogs', summary: 'Add up to 200 log entries' })
  logs(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: AddLogsDto,
  ) {
    return this.reports.logs(reporterOf(caller, runId, body.runId), body.entries);
  }

  @Post('renew')
  @HttpCode(200)
  @ApiOkResponse({ type: RenewalDto })
  @ApiOperation({ summary: 'Renew the lease of a run' })
  @ApiErrors('lease_renewals_exhausted')
  renew(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: RenewRunDto,
  ) {
    return this.reports.renew(reporterOf(caller, runId, body.runId), body.leaseSeconds);
  }

  @Post('complete')
  @Hot({ body: CompleteRunDto, param: 'runId', status: 200 })
  @ApiOkResponse({ type: CompletionDto })
  @ApiOperation({ summary: 'Complete a run; the request can claim the next task' })
  complete({ caller, id: runId, body }: HotCall<CompleteRunDto>) {
    return this.completion.complete(reporterOf(caller, runId, body.runId), body);
  }

  @Post('fail')
  @HttpCode(200)
  @ApiOkResponse({ type: ReportOutcomeDto })
  @ApiOperation({ summary: 'Fail a run; the server decides on a retry' })
  fail(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: FailRunDto,
  ) {
    return this.reports.fail(reporterOf(caller, runId, body.runId), body);
  }

  @Post('release')
  @HttpCode(200)
  @ApiOkResponse({ type: ReportOutcomeDto })
  @ApiOperation({
    summary: 'Release a run that did not finish',
  })
  release(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: ReleaseRunDto,
  ) {
    return this.reports.release(reporterOf(caller, runId, body.runId), body);
  }
}
