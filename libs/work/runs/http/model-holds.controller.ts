import { Body, Controller, Delete, HttpCode, Put } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { AgentCaller } from '#lib/kernel';
import { ModelHolds } from '../reports/model-holds.js';
import { reporterOf } from '../reports/reporter.js';
import { ModelHoldDto, SetModelHoldDto } from './dto/model-hold.dto.js';

/** Only hosts of runs send requests to models. */
@ApiTags('Runs')
@Controller('runs/:runId/model-holds/:requestId')
@Auth({ kinds: ['agent'] })
@ApiErrors('validation_failed', 'run_not_found')
export class ModelHoldsController {
  constructor(private readonly holds: ModelHolds) {}

  @Put()
  @ApiOkResponse({ type: ModelHoldDto })
  @ApiErrors('stale_run')
  @ApiOperation({
    operationId: 'setModelHold',
    summary: 'Hold the upper bound of a request to a model before it is sent',
    description:
      'The request has the id of its later report of usage, which ends the hold. So does the end ' +
      'of the run. The same request again changes nothing.',
  })
  set(
    @CurrentCaller() caller: AgentCaller,
    @UuidParam('runId') runId: string,
    @UuidParam('requestId', { whole: true }) requestId: string,
    @Body() body: SetModelHoldDto,
  ) {
    return this.holds.ask(reporterOf(caller, runId), requestId, body);
  }

  @Delete()
  @HttpCode(204)
  @ApiNoContentResponse()
  @ApiOperation({
    operationId: 'releaseModelHold',
    summary: 'Release the hold of a request that used no tokens',
  })
  release(
    @CurrentCaller() caller: AgentCaller,
    @UuidParam('runId') runId: string,
    @UuidParam('requestId', { whole: true }) requestId: string,
  ) {
    return this.holds.release(reporterOf(caller, runId), requestId);
  }
}
