import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DroverError } from '#lib/kernel';
import { GatewayTokens } from '../gateway/gateway-tokens.js';

/** What the guard leaves on a request. */
export interface GatewayRequest extends FastifyRequest {
  gatewayId?: string;
}

const BEARER = /^Bearer +(\S+)$/i;

/** Lets gateways in, by their own tokens, and nobody else. */
@Injectable()
export class GatewayGuard implements CanActivate {
  constructor(@Inject(GatewayTokens) private readonly tokens: GatewayTokens) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    try {
      request.gatewayId = this.identify(request.headers.authorization);
      return true;
    } catch (error) {
      void http.getResponse<FastifyReply>().header('www-authenticate', 'Bearer');
      throw error;
    }
  }

  private identify(authorization: string | undefined): string {
    if (authorization === undefined) throw new DroverError('unauthenticated');
    const [, token] = BEARER.exec(authorization) ?? [];
    // Without a secret there is no gateway whose token could hold.
    if (token === undefined || !this.tokens.configured) throw new DroverError('invalid_token');
    return this.tokens.gatewayOf(token);
  }
}
