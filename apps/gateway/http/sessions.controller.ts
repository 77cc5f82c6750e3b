import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { UuidParam } from '#lib/http';
import { Gateway } from '../gateway.js';
import { toLabelled } from '../sessions/domain/session.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { answerSession, answerSpawned } from './answer.js';
import { ListSessionsQuery, StopSessionQuery } from './dto/sessions.dto.js';
import { SpawnSessionDto } from './dto/spawn.dto.js';

@Controller('sessions')
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly gateway: Gateway,
  ) {}

  @Post('spawn')
  spawn(@Body() body: SpawnSessionDto, @Res({ passthrough: true }) reply: FastifyReply) {
    return answerSpawned(reply, this.gateway, this.sessions.spawn(body));
  }

  @Get()
  list(@Query() query: ListSessionsQuery) {
    const sessions = this.sessions.list(query);
    if (query.view === 'sessions') return { sessions, gateway: this.gateway.facts() };
    return sessions.map(toLabelled);
  }

  @Get(':id')
  get(@UuidParam() id: string) {
    return answerSession(this.gateway, this.sessions.get(id));
  }

  @Delete(':id')
  @HttpCode(202)
  stop(@Param('id') id: string, @Query() { graceSeconds }: StopSessionQuery) {
    return answerSession(this.gateway, this.sessions.stop(id, graceSeconds));
  }
}
