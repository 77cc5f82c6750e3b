import { Readable } from 'node:stream';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DroverError } from '#lib/kernel';

const CONFIG = { streamedBody: true } as const;
/** Stands for the type of every streamed body while Fastify looks for a parser. */
const TYPE = 'application/vnd.drover.stream';

/**
 * For a route that takes a file: a body of any type and size, which arrives as a stream. The route
 * itself bounds the size.
 */
export function StreamedBody(): MethodDecorator {
  return RouteConfig(CONFIG);
}

/** A body as it arrives. */
export interface Streamed {
  /** The value of Content-Type, if the client sent one. */
  type?: string;
  /** The value of Content-Length in bytes, if the client sent one. */
  length?: number;
  content: Readable;
}

/** The body of a route with `@StreamedBody()`. */
export const BodyStream = createParamDecorator(
  (_: unknown, context: ExecutionContext): Streamed => {
    const { body, raw } = context.switchToHttp().getRequest<FastifyRequest>();
    const { 'content-type': type, 'content-length': length } = raw.headers;
    return {
      type,
      length: length === undefined ? undefined : Number(length),
      content: body instanceof Readable ? body : Readable.from([]),
    };
  },
);

/** Gives routes with `@StreamedBody()` their bodies. All other routes refuse the type as before. */
export function streamBodies(instance: FastifyInstance): void {
  instance.addHook('onRoute', (route) => {
    if (!isStreamed(route.config ?? {})) return;
    route.onRequest = (request, _, done) => {
      request.headers = { 'content-type': TYPE };
      done();
    };
  });
  instance.addContentTypeParser(TYPE, ({ headers, routeOptions }, payload, done) => {
    if (!isStreamed(routeOptions.config)) return done(new DroverError('unsupported_media_type'));
    const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    if (encoding === 'identity') return done(null, payload);
    const detail = 'Content-Encoding is not identity: send the file as it is.';
    done(new DroverError('unsupported_media_type', { detail }));
  });
}

function isStreamed(config: object): boolean {
  return 'streamedBody' in config && config.streamedBody === true;
}
