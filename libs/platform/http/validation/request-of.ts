import type { FastifyRequest } from 'fastify';

/** Nest's pipes receive a body or a query, and not its request. */
const requests = new WeakMap<object, FastifyRequest>();

/** Makes the request known to the pipe of its body and query. */
export function rememberRequest(request: FastifyRequest): void {
  for (const value of [request.body, request.query]) {
    if (typeof value === 'object' && value !== null) requests.set(value, request);
  }
}

/** The request of a body or of a query, if it is known. */
export function requestOf(value: unknown): FastifyRequest | undefined {
  return typeof value === 'object' && value !== null ? requests.get(value) : undefined;
}
