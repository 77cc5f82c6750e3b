import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { DroverError } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import { requirePlainUtf8 } from './body-form.js';
import { hotHandler, type HotLane, hotRouteOf } from './hot-route.js';
import { parseJsonBody } from './json-body.js';
import { answerClientError } from './problem/client-error.js';
import { logRefusal } from './problem/log-refusal.js';
import { isRaw } from './raw-body.js';
import { pathOf, sendProblem } from './problem/send-problem.js';
import { toDroverError } from './problem/to-drover-error.js';
import { parseQuery } from './query-string.js';
import { requestIdOf } from './request-id.js';
import { RouteTable } from './route-table.js';
import { RouteTimer } from './route-timer.js';

/** Bytes of a request's body at most. */
export const BODY_LIMIT = 1_048_576;

/** How often unused connections are looked for while the server closes, in milliseconds. */
const SWEEP_MS = 100;

/** How long clients may take, and how many may be connected. */
export interface ConnectionLimits {
  /** Connections at once; the next is closed as soon as it is there. */
  maxConnections: number;
  /** For a whole request to arrive, its body included, in milliseconds. Its answer may take any time. */
  requestMs: number;
  /** Between two requests of one connection, in milliseconds; balancers in front should wait less. */
  keepAliveMs: number;
}

const LIMITS: ConnectionLimits = {
  maxConnections: 20_000,
  requestMs: 30_000,
  keepAliveMs: 72_000,
};
/** For the headers of a request to arrive, from when the connection is there, in milliseconds. */
const HEADERS_MS = 15_000;
/** Nothing comes or goes for so long, in milliseconds: far longer than a claim waits, or a command for many tasks. */
const SILENCE_MS = 600_000;

export interface AdapterOptions {
  limits?: Partial<ConnectionLimits>;
  /** Addresses and networks whose X-Forwarded-* are believed. */
  trustedProxies?: string[];
  /** Bytes of a request's body at most; BODY_LIMIT by default. */
  bodyLimit?: number;
  /** Levels of arrays and objects that a body may nest; 64 by default. */
  maxJsonDepth?: number;
}

/** Fastify with our bodies, queries, request ids and errors. */
export class DroverFastifyAdapter extends FastifyAdapter {
  readonly routes = new RouteTable();
  readonly timer = new RouteTimer();
  /** Set by `configureHttp` when there is a guard: without one there can be no hot routes. */
  hotLane: HotLane | undefined;
  /** Soon to close: answers ask for their connections to be closed. */
  leaving = false;
  /** From the moment the application begins to close. */
  closing = false;
  private readonly sockets = new Set<Socket>();
  private readonly refusals: Refusals;

  constructor(options: AdapterOptions) {
    const refusals: Refusals = { logger: undefined };
    const instance = createFastify(options, refusals);
    const unmute = muteHooks(instance);
    super(instance as never);
    unmute();
    this.refusals = refusals;
    this.routes.watch(instance);
    this.timer.watch(instance);
    instance.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** Where the refusals of requests that reach no route are logged. */
  set refusalLogger(logger: Logger) {
    this.refusals.logger = logger;
  }

  /** For hooks: answers with the error, and logs it. */
  refuse(request: FastifyRequest, reply: FastifyReply, error: DroverError): void {
    refuse(this.refusals, request, reply, error);
  }

  // Nest says so before any shutdown hook runs.
  override beforeClose(): void {
    super.beforeClose();
    this.closing = true;
  }

  override async close(): Promise<void> {
    const sweeping = setInterval(() => this.closeUnused(), SWEEP_MS);
    try {
      await super.close();
    } finally {
      clearInterval(sweeping);
    }
  }

  /**
   * Node closes the connections that are idle when the server closes. Not those that become idle
   * later, and not those that were opened in advance and never used: either would hold us up.
   * The first sweep comes late enough for a request that is on its way to be read.
   */
  private closeUnused(): void {
    this.instance.server.closeIdleConnections();
    for (const socket of this.sockets) {
      if (socket.bytesRead === 0) socket.destroy();
    }
  }

  // Nest would load the bridge to Express middleware here, which every request then passes.
  override init(): Promise<void> {
    return Promise.resolve();
  }

  // Nest would add its own parsers here, and with them further content types.
  override registerParserMiddleware(): void {}

  override post(...args: unknown[]): ReturnType<FastifyAdapter['post']> {
    const hot = hotRouteOf(args.at(-1) as object);
    if (!hot) return super.post(...args);
    if (!this.hotLane) throw new Error('configureHttp() needs a guard for routes with @Hot()');
    const path = String(args[0]);
    return super.post(path, hotHandler(hot, this.hotLane, this.timer.hotRoute('POST', path)));
  }
}

export function createFastifyAdapter(options: AdapterOptions = {}): DroverFastifyAdapter {
  return new DroverFastifyAdapter(options);
}

/** Known later than Fastify's own settings, which speak of it. */
interface Refusals {
  logger: Logger | undefined;
}

function refuse(
  { logger }: Refusals,
  request: FastifyRequest,
  reply: FastifyReply,
  error: DroverError,
): void {
  const { id, method, url } = request;
  if (logger) logRefusal(logger, { id, method, path: pathOf(url) }, error);
  sendProblem(request, reply, error);
}

function createFastify(options: AdapterOptions, refusals: Refusals): FastifyInstance {
  const { requestMs, keepAliveMs, maxConnections } = { ...LIMITS, ...options.limits };
  const headersTimeout = Math.min(HEADERS_MS, requestMs);
  const instance = fastify({
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionTimeout: SILENCE_MS,
    logger: false,
    bodyLimit: options.bodyLimit ?? BODY_LIMIT,
    trustProxy: options.trustedProxies?.length ? options.trustedProxies : false,
    forceCloseConnections: 'idle',
    // We say so ourselves, as a problem document, and sooner.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestIdOf,
    routerOptions: { querystringParser: parseQuery, maxParamLength: 1_000 },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      refuse(refusals, request, reply, toDroverError(error)),
    clientErrorHandler: (error: Error, socket: Socket) =>
      answerClientError(error, socket, refusals.logger),
    // Node would refuse it with an empty answer; `configureHttp` does with a problem document.
    http: {
      requireHostHeader: false,
      headersTimeout,
      // How often Node looks for those that take too long.
      connectionsCheckingInterval: Math.min(5_000, headersTimeout),
    },
  });
  instance.server.maxConnections = maxConnections;
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('application/json', { parseAs: 'buffer' }, jsonReader(options));
  return instance;
}

/**
 * Nest's adapter adds seven hooks to its instance, for CORS, CSRF, versions, Express middleware and a
 * 503 of its own while closing. We use none of them, and each request would pay for all.
 */
function muteHooks(instance: FastifyInstance): () => void {
  const { addHook } = instance;
  instance.addHook = () => instance;
  return () => {
    instance.addHook = addHook;
  };
}

type Done = (error: Error | null, body?: unknown) => void;

function jsonReader({ maxJsonDepth }: AdapterOptions) {
  return ({ headers, routeOptions }: FastifyRequest, body: Buffer, done: Done): void => {
    let value: unknown;
    try {
      requirePlainUtf8(headers);
      value = isRaw(routeOptions.config) ? body : parseJsonBody(body, maxJsonDepth);
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, value);
  };
}
