import { Body, Controller, HttpCode, Patch, Post, Put } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Hot, type HotCall, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { reporterOf } from '../reporter.js';
import { RunCompletion } from '../run-completion.js';
import { RunReports } from '../run-reports.js';
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
  @ApiOperation({ summary: 'The work has begun' })
  start(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: StartRunDto,
  ) {
    return this.reports.start(reporterOf(caller, runId, body.runId), body);
  }

  @Patch('progress')
  @ApiOkResponse({ type: ProgressOutcomeDto })
  @ApiOperation({ operationId: 'reportRunProgress', summary: 'How far the work is' })
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
    summary: 'Save what a later run needs to go on from here',
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
  @ApiOperation({ operationId: 'addRunLogs', summary: 'Log entries, such as output; up to 200' })
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
  @ApiOperation({ summary: 'Renew the lease' })
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
  @ApiOperation({ summary: 'The work is done; can claim the next in the same request' })
  complete({ caller, id: runId, body }: HotCall<CompleteRunDto>) {
    return this.completion.complete(reporterOf(caller, runId, body.runId), body);
  }

  @Post('fail')
  @HttpCode(200)
  @ApiOkResponse({ type: ReportOutcomeDto })
  @ApiOperation({ summary: 'The work has failed; the server decides whether it is tried again' })
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
    summary: 'Give the task back: unstarted, paused, or because the agent is leaving',
  })
  release(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: ReleaseRunDto,
  ) {
    return this.reports.release(reporterOf(caller, runId, body.runId), body);
  }
}
