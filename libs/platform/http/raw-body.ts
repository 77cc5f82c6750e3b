import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';

const CONFIG = { rawBody: true } as const;

/** For a route that checks a signature over its body: it gets the bytes as they came, and parses them afterwards. */
export function RawBody(): MethodDecorator {
  return RouteConfig(CONFIG);
}

/** Whether the route of this configuration is one with `@RawBody()`. */
export function isRaw(config: object): boolean {
  return 'rawBody' in config && config.rawBody === true;
}

/** The bytes of the body; none where no body came. */
export const BodyBytes = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { body } = context.switchToHttp().getRequest<FastifyRequest>();
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
});
