import { Controller, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Hot, type HotCall } from '#lib/http';
import { Auth } from '#lib/identity';
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
  @Hot({ body: HeartbeatDto, param: 'id', status: 200 })
  @ApiOperation({ summary: 'Says that the agent is alive, and how it does' })
  @ApiOkResponse({ type: BeatAnswerDoc })
  @ApiErrors('agent_not_found', 'agent_terminated')
  beat({ caller, id, body }: HotCall<HeartbeatDto>): BeatAnswer | Promise<BeatAnswer> {
    return this.heartbeats.beat(caller, id, body);
  }
}
