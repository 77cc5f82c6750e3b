import { Body, Controller, Delete, Get, HttpCode, Post, Put, Query, Res } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ApiErrors, IfMatch, UuidParam, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller, Page } from '#lib/kernel';
import { AgentManagerService } from '../agents/agent-manager.service.js';
import type { AgentToken } from '../agents/agent-tokens.js';
import type { AgentView } from '../domain/agent-view.js';
import type { AgentHealth, KeptHeartbeat } from '../domain/health.js';
import {
  AgentDto,
  AgentHealthDto,
  AgentPageDto,
  NewAgentTokenDto,
  HeartbeatPageDto,
} from './dto/agent-answers.dto.js';
import {
  HeartbeatsQuery,
  IssueAgentTokenDto,
  ListAgentsQuery,
  RegisterAgentDto,
} from './dto/agent.dto.js';

@ApiTags('Agents')
@Controller('agents')
@Auth({ scope: 'agents:read' })
export class AgentsController {
  constructor(private readonly agents: AgentManagerService) {}

  @Get()
  @ApiOperation({ summary: 'List agents by name' })
  @ApiOkResponse({ type: AgentPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@CurrentCaller() caller: Caller, @Query() query: ListAgentsQuery): Promise<Page<AgentView>> {
    return this.agents.list(caller, query);
  }

  @Put(':id')
  @Auth({ kinds: ['user', 'api_key', 'agent'], role: 'MEMBER', scope: 'agents:write' })
  @Versioned()
  @ApiOperation({
    summary: 'Register or change an agent under an id that you choose',
  })
  @ApiCreatedResponse({ type: AgentDto })
  @ApiOkResponse({ type: AgentDto, description: 'The agent existed already.' })
  @ApiErrors(
    ...(['validation_failed', 'agent_not_found', 'agent_terminated'] as const),
    ...(['agent_in_use', 'version_mismatch'] as const),
  )
  async register(
    @CurrentCaller() caller: Caller,
    @UuidParam('id', { whole: true }) id: string,
    @Body() { hostname, hostName, workerId: _workerId, ...body }: RegisterAgentDto,
    @IfMatch() version: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentView> {
    const { agent, created } = await this.agents.register(
      caller,
      id,
      { ...body, hostName: hostName === undefined ? hostname : hostName },
      version,
    );
    void reply.status(created ? 201 : 200);
    return agent;
  }

  @Get(':id')
  @Auth({ kinds: ['user', 'api_key', 'agent'], scope: 'agents:read' })
  @Versioned()
  @ApiOperation({ summary: 'Get an agent' })
  @ApiOkResponse({ type: AgentDto })
  @ApiErrors('validation_failed', 'agent_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam('id') id: string): Promise<AgentView> {
    return this.agents.get(caller, id);
  }

  @Get(':id/health')
  @ApiOperation({
    operationId: 'getAgentHealth',
    summary: 'Get the health of an agent',
  })
  @ApiOkResponse({ type: AgentHealthDto })
  @ApiErrors('validation_failed', 'agent_not_found')
  health(@CurrentCaller() caller: Caller, @UuidParam('id') id: string): Promise<AgentHealth> {
    return this.agents.health(caller, id);
  }

  @Get(':id/heartbeats')
  @ApiOperation({
    operationId: 'listHeartbeats',
    summary: 'List the stored heartbeats of an agent, the newest first',
  })
  @ApiOkResponse({ type: HeartbeatPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'agent_not_found')
  heartbeats(
    @CurrentCaller() caller: Caller,
    @UuidParam('id') id: string,
    @Query() query: HeartbeatsQuery,
  ): Promise<Page<KeptHeartbeat>> {
    return this.agents.heartbeats(caller, id, query);
  }

  @Post(':id/token')
  @Auth({ role: 'MEMBER', scope: 'agents:write' })
  @ApiOperation({
    operationId: 'issueAgentToken',
    summary: 'Issue a token for an agent; `rotate` revokes its other tokens',
  })
  @ApiCreatedResponse({ type: NewAgentTokenDto })
  @ApiErrors('validation_failed', 'agent_not_found', 'agent_terminated')
  issueToken(
    @CurrentCaller() caller: Caller,
    @UuidParam('id') id: string,
    @Body() body: IssueAgentTokenDto,
  ): Promise<AgentToken> {
    return this.agents.issueToken(caller, id, body);
  }

  @Delete(':id/token')
  @Auth({ role: 'MEMBER', scope: 'agents:write' })
  @HttpCode(204)
  @ApiOperation({
    operationId: 'revokeAgentTokens',
    summary: 'Revoke all tokens of an agent and of its runs within about a second',
  })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'agent_not_found')
  revokeTokens(@CurrentCaller() caller: Caller, @UuidParam('id') id: string): Promise<void> {
    return this.agents.revokeTokens(caller, id);
  }
}
