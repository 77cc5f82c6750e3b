import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { AgentCaller } from '#lib/kernel';
import { HostCredentials } from '../credentials/host-credentials.js';
import { RunHostCredentialsDto } from './host-credentials.dto.js';

/** Only hosts of runs get values. A run's own token cannot read one. */
@ApiTags('Runs')
@Controller('runs/:runId/host-credentials')
@Auth({ kinds: ['agent'] })
export class RunHostCredentialsController {
  constructor(private readonly credentials: HostCredentials) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'getRunHostCredentials',
    summary: 'Get the headers that a live run sends to hosts',
    description: 'It is for the host of the run, which must not give a value to the run.',
  })
  @ApiOkResponse({ type: RunHostCredentialsDto })
  @ApiErrors('run_not_found', 'secrets_unreadable')
  async get(
    @CurrentCaller() { workspaceId, agentId }: AgentCaller,
    @UuidParam('runId') runId: string,
  ) {
    return { items: await this.credentials.ofRun({ workspaceId, agentId, runId }) };
  }
}
