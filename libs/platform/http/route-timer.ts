import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isEventStream } from './event-stream.js';
import { RequestTimes, type RouteTimes } from '#lib/observability';

/**
 * Times the requests of every route. Hot routes do it themselves, once their body is read, because
 * Fastify's hook would cost as much as a tenth of them; only what never reaches their handler is
 * counted here.
 */
export class RouteTimer {
  readonly times = new RequestTimes();
  private readonly hot = new Set<string>();

  /** A route that is about to be added, and that will time its requests itself. */
  hotRoute(method: string, url: string): RouteTimes {
    this.hot.add(`${method} ${url}`);
    return this.times.route(method, url);
  }

  /** Times every route that is added to the instance from now on. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', (route) => {
      if (this.hot.has(`${String(route.method)} ${route.url}`)) return;
      const byMethod = new Map<string, RouteTimes>();
      const note = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        const known = byMethod.get(request.method) ?? this.times.route(request.method, route.url);
        byMethod.set(request.method, known);
        // A stream's time is how long its client stayed.
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

  /** Requests that no route matched are timed under one name, whatever their path. */
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
