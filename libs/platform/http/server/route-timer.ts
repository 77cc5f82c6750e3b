import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isEventStream } from '../answers/event-stream.js';
import { RequestTimes, type RouteTimes } from '#lib/observability';

/**
 * Measures the requests of every route. Hot routes do so themselves after reading the body, because
 * Fastify's hook would cost about a tenth of them. Here only requests that never reach their
 * handler are counted.
 */
export class RouteTimer {
  readonly times = new RequestTimes();
  private readonly hot = new Set<string>();

  /** For a route that will be added and measures its requests itself. */
  hotRoute(method: string, url: string): RouteTimes {
    this.hot.add(`${method} ${url}`);
    return this.times.route(method, url);
  }

  /** Measures every route that is added to the instance from now on. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', (route) => {
      if (this.hot.has(`${String(route.method)} ${route.url}`)) return;
      const byMethod = new Map<string, RouteTimes>();
      const note = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        const known = byMethod.get(request.method) ?? this.times.route(request.method, route.url);
        byMethod.set(request.method, known);
        // The time of a stream is the time its client stayed.
        if (isEventStream(reply)) return done();
        known.observe(reply.statusCode, reply.elapsedTime);
        done();
      };
      route.onResponse = [route.onResponse ?? [], note].flat();
    });
    fastify.addHook('onError', (request, reply, _error, done) => {
      const url = request.routeOptions.url ?? '';
      if (this.hot.has(`${request.method} ${url}`)) this.whenFinished(request, reply, url);
      done();
    });
  }

  /** Requests without a matching route share one name, whatever their path. */
  unmatched(request: FastifyRequest, reply: FastifyReply): void {
    this.whenFinished(request, reply, 'unmatched');
  }

  private whenFinished({ method }: FastifyRequest, reply: FastifyReply, template: string): void {
    const start = performance.now();
    reply.raw.once('finish', () =>
      this.times.route(method, template).observe(reply.statusCode, performance.now() - start),
    );
  }
}
