import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DroverError } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { GatewayTokens } from '../gateway/gateway-tokens.js';

/** The guard's result on a request. */
export interface GatewayRequest extends FastifyRequest {
  gatewayId?: string;
}

/** In ms. Anybody can cause a refused token: that must not fill the log. */
const WARN_EVERY_MS = 60_000;

/** Accepts gateways by their tokens, and nobody else. */
@Injectable()
export class GatewayGuard implements CanActivate {
  private warnedAt = -Infinity;

  constructor(
    private readonly tokens: GatewayTokens,
    private readonly logger: Logger,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<GatewayRequest>();
    try {
      request.gatewayId = this.tokens.gatewayOf(request.headers.authorization);
      return true;
    } catch (error) {
      void http.getResponse<FastifyReply>().header('www-authenticate', 'Bearer');
      this.warn(error, request.ip);
      throw error;
    }
  }

  private warn(error: unknown, from: string): void {
    const refused = error instanceof DroverError && error.code === 'invalid_gateway_token';
    if (!refused || performance.now() < this.warnedAt + WARN_EVERY_MS) return;
    this.warnedAt = performance.now();
    const why = error.extras.detail ?? this.why;
    this.logger.warn('Token of a gateway refused', { why, from });
  }

  private get why(): string {
    if (this.tokens.isBasic) return 'GATEWAY_PROTOCOL is basic here: gateways report nothing';
    return this.tokens.configured
      ? 'GATEWAY_SECRET must be the same at both, and their clocks must agree'
      : 'GATEWAY_SECRET is not set here';
  }
}
