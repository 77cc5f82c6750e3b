import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, ClientGone, clientGone, Hot, type HotCall, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { AgentWork } from '../claims/agent-work.js';
import { ClaimTasksDto, AgentSignalsRequestDto } from './dto/agent-work.dto.js';
import { ClaimDto, AgentSignalsDto } from './dto/run-answers.dto.js';

@ApiTags('Agents')
@Controller('agents/:id')
@Auth({ kinds: ['agent'] })
@ApiErrors('agent_not_found')
export class AgentWorkController {
  constructor(private readonly work: AgentWork) {}

  @Post('claim')
  @Hot({ body: ClaimTasksDto, param: 'id', status: 200 })
  @ApiOkResponse({ type: ClaimDto })
  @ApiOperation({
    operationId: 'claimTasks',
    summary: 'Claim up to 50 tasks, or wait for one with waitMs',
  })
  @ApiErrors('agent_draining', 'agent_terminated', 'agent_is_push')
  @ApiErrors('task_not_found', 'illegal_transition')
  claim({ caller, id, body, reply }: HotCall<ClaimTasksDto>) {
    return this.work.claim(caller, id, body, clientGone(reply));
  }

  @Post('signals')
  @HttpCode(200)
  @ApiOkResponse({ type: AgentSignalsDto })
  @ApiOperation({
    operationId: 'getAgentSignals',
    summary: 'Wait for runs of the agent that must stop or pause',
  })
  signals(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: AgentSignalsRequestDto,
    @ClientGone() gone: AbortSignal,
  ) {
    return this.work.signals(caller, id, body, gone);
  }
}
