import { Body, Controller, Delete, Get, HttpCode, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors, PageQuery, UuidParam } from '#lib/http';
import type { Page, UserCaller } from '#lib/kernel';
import { Auth, CurrentCaller } from '../access/decorators.js';
import { ApiKeysService, type ApiKeyView } from '../api-keys/api-keys.service.js';
import { CreateApiKeyDto, RevokeApiKeyQuery } from './workspaces.dto.js';
import { ApiKeyPageDto, NewApiKeyDto } from './workspaces-answers.dto.js';

/** For users only, because a key that could create keys could extend its own permissions. */
@ApiTags('api keys')
@ApiParam({ name: 'workspaceId', format: 'uuid' })
@Controller('workspaces/:workspaceId/api-keys')
@Auth({ kinds: ['user'], role: 'ADMIN' })
export class ApiKeysController {
  constructor(private readonly apiKeys: ApiKeysService) {}

  @Post()
  @ApiOperation({ summary: 'Create an API key; only this answer shows it' })
  @ApiCreatedResponse({ type: NewApiKeyDto })
  @ApiErrors('validation_failed', 'workspace_not_found', 'api_key_limit')
  create(
    @CurrentCaller() caller: UserCaller,
    @Body() body: CreateApiKeyDto,
  ): Promise<ApiKeyView & { key: string }> {
    return this.apiKeys.create(caller, body);
  }

  @Get()
  @ApiOperation({ summary: 'List the API keys of a workspace' })
  @ApiOkResponse({ type: ApiKeyPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'workspace_not_found')
  list(@CurrentCaller() caller: UserCaller, @Query() query: PageQuery): Promise<Page<ApiKeyView>> {
    return this.apiKeys.list(caller, query);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Revoke an API key and the agent tokens that it issued',
    description: 'The tokens of runs that were claimed with these agent tokens end as well.',
  })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'api_key_not_found')
  revoke(
    @CurrentCaller() caller: UserCaller,
    @UuidParam('id') id: string,
    @Query() query: RevokeApiKeyQuery,
  ): Promise<void> {
    return this.apiKeys.revoke(caller, id, query);
  }
}
