import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayTokens } from '../gateway/gateway-tokens.js';

/** What the guard leaves on a request. */
export interface GatewayRequest extends FastifyRequest {
  gatewayId?: string;
}

/** Lets gateways in, by their own tokens, and nobody else. */
@Injectable()
export class GatewayGuard implements CanActivate {
  constructor(@Inject(GatewayTokens) private readonly tokens: GatewayTokens) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    try {
      request.gatewayId = this.tokens.gatewayOf(request.headers.authorization);
      return true;
    } catch (error) {
      void http.getResponse<FastifyReply>().header('www-authenticate', 'Bearer');
      throw error;
    }
  }
}
