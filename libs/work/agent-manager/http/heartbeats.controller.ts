import { Controller, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Hot, type HotCall } from '#lib/http';
import { Auth } from '#lib/identity';
import { type HeartbeatAnswer, Heartbeats } from '../heartbeats/heartbeats.js';
import { HeartbeatAnswerDto } from './dto/agent-answers.dto.js';
import { HeartbeatRequestDto, withMetrics } from './dto/heartbeat.dto.js';

@ApiTags('Agents')
@Controller('agents')
// A heartbeat needs no database, and an outage must not make agents look dead.
@Auth({ kinds: ['agent', 'run'], toleratesOutage: true, heartbeat: true })
export class HeartbeatsController {
  constructor(private readonly heartbeats: Heartbeats) {}

  @Post(':id/heartbeat')
  @Hot({ body: HeartbeatRequestDto, param: 'id', status: 200 })
  @ApiOperation({
    operationId: 'sendHeartbeat',
    summary: 'Send a heartbeat of an agent',
  })
  @ApiOkResponse({ type: HeartbeatAnswerDto })
  @ApiErrors('agent_not_found', 'agent_terminated')
  heartbeat({
    caller,
    id,
    body,
  }: HotCall<HeartbeatRequestDto>): HeartbeatAnswer | Promise<HeartbeatAnswer> {
    return this.heartbeats.heartbeat(caller, id, body.metrics ? withMetrics(body) : body);
  }
}
