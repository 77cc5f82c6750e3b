import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseJsonBody } from './json-body.js';
import { sendProblem } from './problem/send-problem.js';
import { toDroverError } from './problem/to-drover-error.js';
import { parseQuery } from './query-string.js';
import { requestIdOf } from './request-id.js';
import { RouteTable } from './route-table.js';

/** Bytes of a request's body at most. */
export const BODY_LIMIT = 1_048_576;

export interface AdapterOptions {
  /** Whether X-Forwarded-* are believed: only behind a proxy that sets them. */
  trustProxy?: boolean;
}

/** Fastify with our bodies, queries, request ids and errors. */
export class DroverFastifyAdapter extends FastifyAdapter {
  readonly routes = new RouteTable();

  constructor(options: AdapterOptions) {
    super({
      logger: false,
      bodyLimit: BODY_LIMIT,
      trustProxy: options.trustProxy ?? false,
      forceCloseConnections: 'idle',
      requestIdHeader: false,
      genReqId: requestIdOf,
      // We use no Express middleware; its bridge costs every request something.
      skipMiddie: true,
      routerOptions: { querystringParser: parseQuery, maxParamLength: 1_000 },
      frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
        sendProblem(request, reply, toDroverError(error)),
    });
    const fastify = this.getInstance<FastifyInstance>();
    this.routes.watch(fastify);
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, readJson);
  }

  /** Nest would add its own parsers here, and with them a second content type. */
  override registerParserMiddleware(): void {}
}

export function createFastifyAdapter(options: AdapterOptions = {}): DroverFastifyAdapter {
  return new DroverFastifyAdapter(options);
}

type Done = (error: Error | null, body?: unknown) => void;

function readJson(_request: unknown, body: Buffer, done: Done): void {
  let value: unknown;
  try {
    value = parseJsonBody(body);
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, value);
}
