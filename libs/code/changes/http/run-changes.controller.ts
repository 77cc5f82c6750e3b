import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { reporterOf } from '#lib/runs';
import { Submissions } from '../hosts/submissions.js';
import { HostChangeDto, RunRepositoryDto, SubmitChangeDto } from './host.dto.js';

/** Only hosts of runs get repositories and submit changes. A run's own token cannot. */
@ApiTags('Runs')
@Controller('runs/:runId')
@Auth({ kinds: ['agent'] })
export class RunChangesController {
  constructor(private readonly submissions: Submissions) {}

  @Post('repository')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'getRunRepository',
    summary: 'Get the repository of a live run with its secrets, and the change with its branch',
    description:
      'It is for the host of the run, which must give no credential to the run. The branch of the ' +
      'change is named by the first request.',
  })
  @ApiOkResponse({ type: RunRepositoryDto })
  @ApiErrors('run_not_found', 'run_has_no_repository', 'stale_run', 'secrets_unreadable')
  repository(@CurrentCaller() caller: Caller, @UuidParam('runId') runId: string) {
    return this.submissions.repositoryOf(reporterOf(caller, runId));
  }

  @Post('submit')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'submitChange',
    summary: 'Submit the change of a live run, which ends; its task waits for proof and review',
    description:
      'The host has pushed the commit to the branch of the change, and stored its diff as the ' +
      'artifact `change.diff` of the run. A repeated request gets the same answer.',
  })
  @ApiOkResponse({ type: HostChangeDto })
  @ApiErrors('validation_failed', 'run_not_found', 'run_has_no_repository', 'stale_run')
  @ApiErrors('illegal_transition')
  submit(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: SubmitChangeDto,
  ) {
    return this.submissions.submit(reporterOf(caller, runId), body);
  }
}
