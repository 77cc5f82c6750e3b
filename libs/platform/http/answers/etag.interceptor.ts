import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Observable, tap } from 'rxjs';

/** Sets the ETag to a row's version for the client's next If-Match. */
function setEtag(reply: Pick<FastifyReply, 'header'>, version: number): void {
  void reply.header('etag', `"${version}"`);
}

const VERSIONED = Symbol('VERSIONED');

/** Sets the ETag to the version of the answered row, if it has one. */
export function setEtagOf(body: unknown, reply: Pick<FastifyReply, 'header'>): void {
  const { version } = (body ?? {}) as { version?: unknown };
  if (Number.isInteger(version)) setEtag(reply, version as number);
}

@Injectable()
class EtagInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(tap((body: unknown) => setEtagOf(body, reply)));
  }
}

export function isVersioned(method: object): boolean {
  return Reflect.hasMetadata(VERSIONED, method);
}

/** For a route that answers one row with its `version`. The answer carries it as ETag, too. */
export function Versioned(): MethodDecorator {
  return applyDecorators(SetMetadata(VERSIONED, true), UseInterceptors(EtagInterceptor));
}
