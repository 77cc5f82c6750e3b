import { Body, Controller, Delete, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { UuidParam } from '#lib/http';
import { Gateway } from '../gateway.js';
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
  async spawn(@Body() body: SpawnSessionDto, @Res({ passthrough: true }) reply: FastifyReply) {
    return answerSpawned(reply, this.gateway, await this.sessions.spawn(body));
  }

  @Get()
  async list(@Query() query: ListSessionsQuery) {
    return { sessions: await this.sessions.list(query), gateway: this.gateway.facts() };
  }

  @Get(':id')
  async get(@UuidParam() id: string) {
    return answerSession(this.gateway, await this.sessions.get(id));
  }

  @Delete(':id')
  @HttpCode(202)
  async stop(@UuidParam() id: string, @Query() { graceSeconds }: StopSessionQuery) {
    return answerSession(this.gateway, await this.sessions.stop(id, graceSeconds));
  }
}
