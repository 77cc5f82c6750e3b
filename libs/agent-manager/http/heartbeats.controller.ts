import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Hot, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { type BeatAnswer, Heartbeats } from '../heartbeats/heartbeats.js';
import { BeatAnswerDoc } from './dto/agent.docs.js';
import { HeartbeatDto } from './dto/heartbeat.dto.js';

@ApiTags('Agents')
@Controller('agents')
// A beat needs no database, and an outage of it must not make agents look dead.
@Auth({ kinds: ['agent'], toleratesOutage: true })
export class HeartbeatsController {
  constructor(private readonly heartbeats: Heartbeats) {}

  @Post(':id/heartbeat')
  @Hot()
  @HttpCode(200)
  @ApiOperation({ summary: 'Says that the agent is alive, and how it does' })
  @ApiOkResponse({ type: BeatAnswerDoc })
  @ApiErrors('validation_failed', 'agent_not_found', 'agent_terminated')
  beat(
    @CurrentCaller() caller: Caller,
    @UuidParam('id') id: string,
    @Body() body: HeartbeatDto,
  ): BeatAnswer | Promise<BeatAnswer> {
    return this.heartbeats.beat(caller, id, body);
  }
}
