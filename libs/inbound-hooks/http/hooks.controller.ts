import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { BodyBytes, RawBody, traceparentOfRequest, UuidParam } from '#lib/http';
import { Public } from '#lib/identity';
import { HookReceiver } from '../hook-receiver.js';

/**
 * Where others send their events. Not in the OpenAPI document: what is sent is theirs to say, and it is signed
 * instead of carrying a token.
 */
@ApiExcludeController()
@Controller('hooks')
@Public()
export class HooksController {
  constructor(private readonly receiver: HookReceiver) {}

  @Post(':id')
  @HttpCode(200)
  @RawBody()
  receive(@UuidParam() id: string, @BodyBytes() body: Buffer, @Req() request: FastifyRequest) {
    const { headers } = request;
    const traceparent = traceparentOfRequest(request);
    return this.receiver.receive(id, { headers, body, traceparent });
  }
}
