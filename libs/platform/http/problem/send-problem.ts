import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DroverError } from '#lib/kernel';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Answers with the error's problem document (RFC 9457) and its headers. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  error: DroverError,
): void {
  const { status } = error.spec;
  const document = {
    ...error.toProblem(),
    instance: pathOf(request.url),
    requestId: request.id,
  };
  void reply.code(status).header('content-type', PROBLEM_TYPE).header('x-request-id', request.id);
  const wait = error.extras.retryAfterSeconds ?? (status === 429 || status === 503 ? 1 : undefined);
  if (wait !== undefined) void reply.header('retry-after', String(Math.max(1, Math.ceil(wait))));
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  if (status === 413) void reply.header('connection', 'close');
  void reply.send(JSON.stringify(document));
}

// Without the query, which can contain data that must not appear in a log or screenshot.
export function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
