import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import type { Caller, Page } from '#lib/kernel';
import { Auth, CurrentCaller } from '../access/decorators.js';
import { IssuedTokens, type IssuedTokenView } from '../tokens/issued-tokens.js';
import { AgentTokensQuery } from './workspaces.dto.js';
import { AgentTokenPageDto } from './workspaces-answers.dto.js';

@ApiTags('workspaces')
@ApiParam({ name: 'workspaceId', format: 'uuid' })
@Controller('workspaces/:workspaceId/agent-tokens')
export class AgentTokensController {
  constructor(private readonly tokens: IssuedTokens) {}

  @Get()
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({
    summary: 'List valid agent tokens',
    description:
      'The answer does not contain the tokens themselves. When a member is removed or a ' +
      'user is disabled, the server revokes the agent tokens that they or their API keys ' +
      'issued. `issuedBy` shows these tokens.',
  })
  @ApiOkResponse({ type: AgentTokenPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'workspace_not_found')
  list(
    @CurrentCaller() caller: Caller,
    @Query() query: AgentTokensQuery,
  ): Promise<Page<IssuedTokenView>> {
    return this.tokens.list(caller, query);
  }
}
