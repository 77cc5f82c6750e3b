import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { API_PREFIX, DroverFastifyAdapter } from '#lib/http';
import { GatewayTokens } from './gateway-tokens.js';

export const PROOF_HEADER = 'drover-server-proof';

const PATHS = `/${API_PREFIX}/gateway/`;

/**
 * Proves to gateways that this server answers: on all answers to a gateway's token, errors too, so
 * before the rest of the request is read. It must be registered before the routes.
 */
@Injectable()
export class GatewayProofs {
  constructor(
    host: HttpAdapterHost,
    private readonly tokens: GatewayTokens,
  ) {
    const adapter: unknown = host.httpAdapter;
    if (adapter instanceof DroverFastifyAdapter) this.watch(adapter.getInstance<FastifyInstance>());
  }

  private watch(fastify: FastifyInstance): void {
    const prove: onRequestHookHandler = (request, reply, done) => {
      const proof = this.tokens.proveTo(request.headers.authorization);
      if (proof !== undefined) void reply.header(PROOF_HEADER, proof);
      done();
    };
    fastify.addHook('onRoute', (route) => {
      if (route.url.startsWith(PATHS)) route.onRequest = [route.onRequest ?? [], prove].flat();
    });
  }
}
