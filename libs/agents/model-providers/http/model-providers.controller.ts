import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query } from '@nestjs/common';
import {
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import { type Caller, DroverError } from '#lib/kernel';
import { PROVIDERS, type Provider } from '../domain/provider.js';
import { ModelProviders } from '../providers/model-providers.js';
import {
  ModelProviderDto,
  ModelProviderQuery,
  ModelProvidersDto,
  SetModelProviderDto,
} from './model-providers.dto.js';

const PROVIDER = { name: 'provider', enum: PROVIDERS };

@ApiTags('Model providers')
@Controller('model-providers')
@Auth({ role: 'ADMIN', scope: 'workspace:admin' })
export class ModelProvidersController {
  constructor(private readonly providers: ModelProviders) {}

  @Get()
  @ApiOperation({ summary: 'List the ways to providers of models, without their keys' })
  @ApiOkResponse({ type: ModelProvidersDto })
  async list(@CurrentCaller() caller: Caller) {
    return { items: await this.providers.list(caller) };
  }

  @Put(':provider')
  @ApiOperation({
    operationId: 'setModelProvider',
    summary: 'Set key and address of a provider for the workspace or one project',
  })
  @ApiParam(PROVIDER)
  @ApiOkResponse({ type: ModelProviderDto })
  @ApiErrors('validation_failed', 'project_not_found')
  set(
    @CurrentCaller() caller: Caller,
    @Param('provider') provider: string,
    @Query() { projectId }: ModelProviderQuery,
    @Body() body: SetModelProviderDto,
  ) {
    return this.providers.set(caller, { provider: toProvider(provider), projectId }, body);
  }

  @Delete(':provider')
  @HttpCode(204)
  @ApiOperation({ operationId: 'removeModelProvider', summary: 'Remove a provider and its key' })
  @ApiParam(PROVIDER)
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'model_provider_not_found')
  remove(
    @CurrentCaller() caller: Caller,
    @Param('provider') provider: string,
    @Query() { projectId }: ModelProviderQuery,
  ) {
    return this.providers.remove(caller, { provider: toProvider(provider), projectId });
  }
}

/** @throws DroverError `validation_failed` */
function toProvider(text: string): Provider {
  const provider = PROVIDERS.find((name) => name === text);
  if (provider !== undefined) return provider;
  const message = `must be one of ${PROVIDERS.join(', ')}`;
  throw new DroverError('validation_failed', { errors: [{ field: 'provider', message }] });
}
