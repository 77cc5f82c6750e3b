import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';

const CONFIG = { rawBody: true } as const;

/**
 * For a route that verifies a signature over its body. It gets the raw bytes and parses them
 * afterwards.
 */
export function RawBody(): MethodDecorator {
  return RouteConfig(CONFIG);
}

/** Whether the route of this configuration has `@RawBody()`. */
export function isRaw(config: object): boolean {
  return 'rawBody' in config && config.rawBody === true;
}

/** The bytes of the body, or none. */
export const BodyBytes = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { body } = context.switchToHttp().getRequest<FastifyRequest>();
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
});
