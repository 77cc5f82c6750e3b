import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { DroverError } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import { requirePlainUtf8 } from '../body/body-form.js';
import { hotHandler, type HotLane, hotRouteOf } from './hot-route.js';
import { parseJsonBody } from '../body/json-body.js';
import { answerClientError } from '../problem/client-error.js';
import { logRefusal } from '../problem/log-refusal.js';
import { isRaw } from '../body/raw-body.js';
import { streamBodies } from '../body/streamed-body.js';
import { pathOf, sendProblem } from '../problem/send-problem.js';
import { toDroverError } from '../problem/to-drover-error.js';
import { parseQuery } from '../parameters/query-string.js';
import { endStalledAnswers } from '../connections/stalled-answers.js';
import { requestIdOf } from './request-id.js';
import { RouteTable } from './route-table.js';
import { RouteTimer } from './route-timer.js';

/** Maximum size of a request's body, in bytes. */
export const BODY_LIMIT = 1_048_576;

/** Interval at which a closing server looks for unused connections, in milliseconds. */
const SWEEP_MS = 100;

/** Time limits and number of client connections. */
export interface ConnectionLimits {
  /** Maximum number of connections. Further ones are closed at once. */
  maxConnections: number;
  /**
   * Time limit for a whole request to arrive, including its body, in milliseconds. The answer has
   * no limit.
   */
  requestMs: number;
  /**
   * Maximum time between two requests of a connection, in milliseconds. Load balancers in front
   * should wait less.
   */
  keepAliveMs: number;
  /** Maximum time for which a client accepts nothing of an answer, in milliseconds. */
  stalledMs: number;
}

const LIMITS: ConnectionLimits = {
  maxConnections: 20_000,
  requestMs: 30_000,
  keepAliveMs: 72_000,
  stalledMs: 30_000,
};
/** Time limit for the headers of a request, from the start of the connection, in milliseconds. */
const HEADERS_MS = 15_000;
/**
 * Maximum time without traffic, in milliseconds. It is far longer than the wait of a claim, or a
 * command for many tasks.
 */
const SILENCE_MS = 600_000;

/** The address of clients on a Unix socket. They are on this machine. */
const LOCAL_ADDRESS = '127.0.0.1';

export interface AdapterOptions {
  limits?: Partial<ConnectionLimits>;
  /** Addresses and networks whose X-Forwarded-* headers are trusted. */
  trustedProxies?: string[];
  /** Maximum size of a request's body, in bytes. Default: BODY_LIMIT. */
  bodyLimit?: number;
  /** Maximum nesting of arrays and objects in a body. Default: 64. */
  maxJsonDepth?: number;
}

/** Fastify with Drover's bodies, queries, request ids and errors. */
export class DroverFastifyAdapter extends FastifyAdapter {
  readonly routes = new RouteTable();
  readonly timer = new RouteTimer();
  /** Set by `configureHttp` if there is a guard. Without a guard there are no hot routes. */
  hotLane: HotLane | undefined;
  /** The server closes soon. Answers ask clients to close their connections. */
  leaving = false;
  /** True from the moment the application starts to close. */
  closing = false;
  private readonly sockets = new Set<Socket>();
  private readonly refusals: Refusals;
  private readonly furtherListeners: Server[] = [];

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
      nameClient(socket, typeof instance.server.address() === 'string');
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    const { stalledMs, keepAliveMs } = { ...LIMITS, ...options.limits };
    const stall = { stalledMs, keepAliveMs, silenceMs: SILENCE_MS };
    endStalledAnswers(instance.server, this.sockets, stall);
  }

  /** The logger for refused requests that reach no route. */
  set refusalLogger(logger: Logger) {
    this.refusals.logger = logger;
  }

  /** For hooks: answers with the error and logs it. */
  refuse(request: FastifyRequest, reply: FastifyReply, error: DroverError): void {
    refuse(this.refusals, request, reply, error);
  }

  /** Serves the connections of a further socket, too. The socket is inherited and bound. */
  async alsoListen(fd: number): Promise<void> {
    const { server } = this.instance;
    let isLocal = false;
    const further = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      nameClient(socket, isLocal);
      server.emit('connection', socket);
    });
    further.maxConnections = server.maxConnections;
    further.listen({ fd });
    await once(further, 'listening');
    // Node knows no address of an inherited Unix socket.
    isLocal = further.address() === null;
    this.furtherListeners.push(further);
  }

  // Nest calls this before any shutdown hook runs.
  override beforeClose(): void {
    super.beforeClose();
    this.closing = true;
  }

  override async close(): Promise<void> {
    const sweeping = setInterval(() => this.closeUnused(), SWEEP_MS);
    for (const listener of this.furtherListeners) listener.close();
    try {
      await super.close();
    } finally {
      clearInterval(sweeping);
    }
  }

  /**
   * When the server closes, Node closes idle connections. It does not close those that become idle
   * later, or that were opened in advance and never used; both would delay the end. The first sweep
   * comes late enough for a request in transit.
   */
  private closeUnused(): void {
    this.instance.server.closeIdleConnections();
    for (const socket of this.sockets) {
      if (socket.bytesRead === 0) socket.destroy();
    }
  }

  // Nest would load the bridge to Express middleware here, and every request would pass it.
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

/**
 * Has Node read the client's address, which it then remembers: a client that hangs up soon has none
 * later. A client that has hung up already is refused, because nobody could say who it was.
 *
 * @param isLocal true for a Unix socket, whose clients have no address
 */
function nameClient(socket: Socket, isLocal: boolean): void {
  if (socket.remoteAddress !== undefined) return;
  if (isLocal) Object.defineProperty(socket, 'remoteAddress', { value: LOCAL_ADDRESS });
  else socket.destroy();
}

/** Available later than Fastify's settings, which refer to it. */
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
    // Drover answers this itself, as a problem document, and sooner.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: requestIdOf,
    routerOptions: { querystringParser: parseQuery, maxParamLength: 1_000 },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      refuse(refusals, request, reply, toDroverError(error)),
    clientErrorHandler: (error: Error, socket: Socket) =>
      answerClientError(error, socket, refusals.logger),
    // Node would refuse it with an empty answer. `configureHttp` answers with a problem document.
    http: {
      requireHostHeader: false,
      headersTimeout,
      // Interval at which Node looks for requests that take too long.
      connectionsCheckingInterval: Math.min(5_000, headersTimeout),
    },
  });
  instance.server.maxConnections = maxConnections;
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('application/json', { parseAs: 'buffer' }, jsonReader(options));
  streamBodies(instance);
  return instance;
}

/**
 * Nest's adapter adds seven hooks to its instance, for CORS, CSRF, versions, Express middleware and
 * its own 503 while closing. Drover uses none of them, and each request would pay for all.
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
