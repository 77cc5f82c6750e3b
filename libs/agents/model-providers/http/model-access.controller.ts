import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { AgentCaller } from '#lib/kernel';
import { ModelProviders } from '../providers/model-providers.js';
import { GetModelAccessDto, ModelAccessDto } from './model-access.dto.js';

/** Only hosts of runs get keys. A run's own token cannot read one. */
@ApiTags('Runs')
@Controller('runs/:runId/model-access')
@Auth({ kinds: ['agent'] })
export class ModelAccessController {
  constructor(private readonly providers: ModelProviders) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'getModelAccess',
    summary: 'Get the address and key of a provider for a live run',
    description: 'It is for the host of the run, which must not give the key to the run.',
  })
  @ApiOkResponse({ type: ModelAccessDto })
  @ApiErrors('validation_failed', 'run_not_found', 'model_provider_not_found', 'secrets_unreadable')
  get(
    @CurrentCaller() { workspaceId, agentId }: AgentCaller,
    @UuidParam('runId') runId: string,
    @Body() { provider }: GetModelAccessDto,
  ) {
    return this.providers.ofRun({ workspaceId, agentId, runId }, provider);
  }
}
