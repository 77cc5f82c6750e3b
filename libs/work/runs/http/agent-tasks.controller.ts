import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AgentDto } from '#lib/agent-manager';
import { ApiErrors, Idempotent, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { TasksOfAgent } from '../leases/tasks-of-agent.js';
import { AgentDeparture } from '../leases/agent-departure.js';
import { AgentTasksQuery, DeregisterAgentDto, TerminateAgentDto } from './dto/agent-work.dto.js';
import { TaskPageDto } from '#lib/task-manager';

@ApiTags('Agents')
@Controller('agents/:id')
@ApiErrors('agent_not_found')
export class AgentTasksController {
  constructor(
    private readonly departure: AgentDeparture,
    private readonly tasksOfAgent: TasksOfAgent,
  ) {}

  @Get('tasks')
  @Auth({ kinds: ['user', 'api_key', 'agent'], scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'listAgentTasks',
    summary: 'List the tasks that an agent holds or held',
  })
  @ApiOkResponse({ type: TaskPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  tasks(@CurrentCaller() caller: Caller, @UuidParam() id: string, @Query() query: AgentTasksQuery) {
    return this.tasksOfAgent.list(caller, id, query);
  }

  @Post('terminate')
  @HttpCode(200)
  @ApiOkResponse({ type: AgentDto })
  @Auth({ role: 'MEMBER', scope: 'agents:write' })
  @Idempotent()
  @ApiOperation({
    operationId: 'terminateAgent',
    summary: 'Terminate an agent after its runs, or at once with graceful: false',
  })
  @ApiErrors('agent_terminated', 'illegal_transition')
  terminate(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: TerminateAgentDto,
  ) {
    return this.departure.terminate(caller, id, body);
  }

  @Post('deregister')
  @HttpCode(200)
  @ApiOkResponse({ type: AgentDto })
  @Auth({ kinds: ['agent'] })
  @ApiOperation({
    operationId: 'deregisterAgent',
    summary: 'Deregister an agent and release its runs',
  })
  deregister(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: DeregisterAgentDto,
  ) {
    return this.departure.deregister(caller, id, body.reason);
  }
}
