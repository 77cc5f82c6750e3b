import { Body, Controller, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Gateway } from '../gateway.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { answerSpawned } from './answer.js';
import { SpawnAgentDto } from './dto/spawn.dto.js';

@Controller('agents')
export class AgentsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly gateway: Gateway,
  ) {}

  @Post('spawn')
  spawn(@Body() body: SpawnAgentDto, @Res({ passthrough: true }) reply: FastifyReply) {
    return answerSpawned(reply, this.gateway, this.sessions.spawnForTask(body));
  }
}
