import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Aborts when the client closes the connection before the answer. */
export function clientGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableEnded) gone.abort();
  });
  return gone.signal;
}

/** `@ClientGone() gone: AbortSignal`: the same for a method's parameter. */
export const ClientGone = createParamDecorator((_: unknown, context: ExecutionContext) =>
  clientGone(context.switchToHttp().getResponse<FastifyReply>()),
);
