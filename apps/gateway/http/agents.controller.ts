import { Body, Controller, Inject, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { SessionsService } from '../sessions/sessions.service.js';
import { answerSpawned } from './answer-spawned.js';
import { SpawnAgentDto } from './dto/spawn.dto.js';

@Controller('agents')
export class AgentsController {
  constructor(@Inject(SessionsService) private readonly sessions: SessionsService) {}

  @Post('spawn')
  async spawn(@Body() body: SpawnAgentDto, @Res({ passthrough: true }) reply: FastifyReply) {
    return answerSpawned(reply, await this.sessions.spawnForRun(body));
  }
}
