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
    summary: 'The agent tokens that are good, without the tokens',
    description:
      'Those that a member has issued, also with an API key of theirs, end when the member is removed or the ' +
      'user is disabled: `issuedBy` shows them before.',
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
