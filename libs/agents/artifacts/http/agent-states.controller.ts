import { Controller, Get, HttpCode, Put, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ApiErrors, BodyStream, type Streamed, StreamedBody, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { reporterOf } from '#lib/runs';
import { AgentStates } from '../states/agent-states.js';

const FILE = { type: 'string', format: 'binary' } as const;
const ANY_TYPE = 'application/octet-stream';

/** Only hosts of runs read and write states. A run's own token cannot. */
@ApiTags('Artifacts')
@Controller('runs/:runId/agent-state')
@Auth({ kinds: ['agent'] })
export class AgentStatesController {
  constructor(private readonly states: AgentStates) {}

  @Put()
  @HttpCode(204)
  @StreamedBody()
  @ApiOperation({
    operationId: 'saveAgentState',
    summary: 'Keep the saved state of a live run, in place of the earlier one of its task',
    description:
      'It is for the host of the run. A run that has asked a person can keep it until the answer. ' +
      'The body has its own form. It is stored encrypted, and no list has it. It counts towards the quota of artifacts, and the oldest states are removed ' +
      'when another upload needs the room.',
  })
  @ApiConsumes(ANY_TYPE)
  @ApiBody({ schema: FILE })
  @ApiNoContentResponse()
  @ApiErrors('run_not_found', 'stale_run', 'artifact_too_large', 'artifact_quota')
  @ApiErrors('artifacts_disabled', 'unsupported_media_type')
  save(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @BodyStream() body: Streamed,
  ): Promise<void> {
    return this.states.put(reporterOf(caller, runId), body);
  }

  @Get()
  @ApiOperation({
    operationId: 'getAgentState',
    summary: 'Get the last state of the task of a live run, else of the task that it continues',
    description: 'It is for the host of the run, which must use nothing of a body that is cut off.',
  })
  @ApiOkResponse({ content: { [ANY_TYPE]: { schema: FILE } } })
  @ApiErrors('run_not_found', 'stale_run', 'artifact_not_found')
  async get(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { size, content } = await this.states.get(reporterOf(caller, runId));
    void reply.header('content-type', ANY_TYPE).header('content-length', size).send(content);
  }
}
