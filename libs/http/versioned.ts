import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Observable, tap } from 'rxjs';

/** Sets the ETag to a row's version, for the client's next If-Match. */
export function setEtag(reply: Pick<FastifyReply, 'header'>, version: number): void {
  void reply.header('etag', `"${version}"`);
}

@Injectable()
class EtagInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(
      tap((body: unknown) => {
        const { version } = (body ?? {}) as { version?: unknown };
        if (Number.isInteger(version)) setEtag(reply, version as number);
      }),
    );
  }
}

/** For a route that answers one row with its `version`: the answer carries it as ETag, too. */
export function Versioned(): MethodDecorator {
  return UseInterceptors(EtagInterceptor);
}
