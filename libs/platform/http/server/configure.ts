import { RequestMethod } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, preHandlerHookHandler } from 'fastify';
import { Database } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { Logger, type Tracing } from '#lib/observability';
import { DroverFastifyAdapter } from './adapter.js';
import { type HotLane, isHotRoute, type RouteGuard } from './hot-route.js';
import { IdempotentRequests } from '../idempotency/requests.js';
import { ProblemFilter } from '../problem/problem.filter.js';
import { traceRequests } from './trace-requests.js';
import { DtoPipe } from '../validation/pipe.js';
import { rememberRequest } from '../validation/request-of.js';

export const API_PREFIX = 'api/v1';

/** Paths without the prefix, where load balancers and browsers expect them. */
const UNPREFIXED = ['healthz', 'readyz', 'metrics', 'mcp', 'health/*path', 'docs', 'docs/*path'];

export interface HttpOptions {
  /** Prefix of all paths except health and documentation. Default: API_PREFIX. */
  prefix?: string;
  /** Default: the application's own logger. */
  logger?: Logger;
  /** The guard of all routes. Routes marked `@Hot()` call it themselves. */
  guard?: RouteGuard;
  /** Without it nothing is traced. */
  tracing?: Tracing;
}

/**
 * Applies Drover's conventions to an application: prefix, validation, problem documents, request
 * ids. Call it before `init()` or `listen()`. The adapter must come from `createFastifyAdapter()`.
 */
export function configureHttp(app: NestFastifyApplication, options: HttpOptions = {}): void {
  const adapter = app.getHttpAdapter() as unknown;
  if (!(adapter instanceof DroverFastifyAdapter)) {
    throw new Error('configureHttp() needs the adapter of createFastifyAdapter()');
  }
  const exclude = UNPREFIXED.map((path) => ({ path, method: RequestMethod.ALL }));
  app.setGlobalPrefix(options.prefix ?? API_PREFIX, { exclude });
  app.useGlobalPipes(new DtoPipe());
  const logger = options.logger ?? app.get<Logger>(Logger);
  adapter.refusalLogger = logger;
  const filter = new ProblemFilter(logger, adapter.routes);
  app.useGlobalFilters(filter);
  const { guard } = options;
  if (guard) {
    const controllerOf: HotLane['controllerOf'] = (type) => app.get(type, { strict: false });
    const idempotentRequests = () =>
      new IdempotentRequests(app.get(Database, { strict: false }), logger);
    adapter.hotLane = { guard, filter, idempotentRequests, controllerOf };
  }
  addAnswerHeaders(adapter);
  addRequestHook(adapter);
  rememberRequests(adapter);
  if (options.tracing) traceRequests(adapter.getInstance<FastifyInstance>(), options.tracing);
}

/**
 * Answers contain the data of a tenant, and texts that its users chose. Neither browser nor proxy
 * stores them or guesses their type. A route can set another `cache-control`.
 */
const ANSWER_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

function addAnswerHeaders(adapter: DroverFastifyAdapter): void {
  adapter.getInstance<FastifyInstance>().addHook('onRequest', (_, reply, done) => {
    void reply.headers(ANSWER_HEADERS);
    done();
  });
}

function addRequestHook(adapter: DroverFastifyAdapter): void {
  adapter.getInstance<FastifyInstance>().addHook('onRequest', (request, reply, done) => {
    // A client that numbers its requests gets its number back. Errors always carry the id.
    if (request.headers['x-request-id'] !== undefined) reply.header('x-request-id', request.id);
    if (request.is404) adapter.timer.unmatched(request, reply);
    if (adapter.leaving && !adapter.closing) reply.header('connection', 'close');
    if (adapter.closing) {
      // The next request on a kept-alive connection belongs to another server.
      reply.header('connection', 'close');
      const error = new DroverError('shutting_down', { retryAfterSeconds: 1 });
      adapter.refuse(request, reply, error);
      return;
    }
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      const error = new DroverError('malformed_header', { detail: 'Host is missing.' });
      adapter.refuse(request, reply, error);
      return;
    }
    done();
  });
}

/** For the pipe of bodies and queries. A hot route has none, and passes its requests on itself. */
function rememberRequests(adapter: DroverFastifyAdapter): void {
  const remember: preHandlerHookHandler = (request, _, done) => {
    rememberRequest(request);
    done();
  };
  adapter.getInstance<FastifyInstance>().addHook('onRoute', (route) => {
    if (isHotRoute(route.config)) return;
    route.preHandler = [route.preHandler ?? [], remember].flat();
  });
}
