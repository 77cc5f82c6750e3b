import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseTraceparent } from '#lib/kernel';
import type { RequestSpan, Tracing } from '#lib/observability';

/** Heartbeats and polls for signals: thousands a minute, none of interest. */
const UNTRACED = /\/(heartbeat|signals)$/;

const spans = new WeakMap<FastifyRequest, RequestSpan>();

/** Adds a span for each API request to routes that are added from now on. */
export function traceRequests(fastify: FastifyInstance, tracing: Tracing): void {
  if (!tracing.on) return;
  fastify.addHook('onRequest', (request, _, done) => {
    const route = request.routeOptions.url ?? '';
    if (route.startsWith('/api/') && !UNTRACED.test(route)) {
      const { method, headers, id } = request;
      const attributes = {
        'http.request.method': method,
        'http.route': route,
        'drover.request.id': id,
      };
      const parent = parseTraceparent(headers['traceparent']);
      const span = tracing.request(`${method} ${route}`, parent, attributes);
      if (span) spans.set(request, span);
    }
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    spans.get(request)?.end(reply.statusCode);
    done();
  });
}

/** The traceparent of the request's span. Undefined if it is not traced. */
export function traceparentOfRequest(request: FastifyRequest): string | undefined {
  return spans.get(request)?.traceparent;
}
