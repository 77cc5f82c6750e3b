import {
  applyDecorators,
  type CallHandler,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { from, lastValueFrom, type Observable, tap } from 'rxjs';
import { Database } from '#lib/database';
import { Logger } from '#lib/observability';
import { ApiErrors } from '../openapi/api-errors.js';
import { isVersioned, setEtagOf } from '../answers/etag.interceptor.js';
import { type IdempotentRequest, IdempotentRequests } from './requests.js';

const IDEMPOTENT = Symbol('IDEMPOTENT');

@Injectable()
class IdempotencyInterceptor extends IdempotentRequests implements NestInterceptor {
  constructor(database: Database, logger: Logger) {
    super(database, logger);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const [request, reply] = [
      http.getRequest<IdempotentRequest>(),
      http.getResponse<FastifyReply>(),
    ];
    if (!this.concerns(request)) return next.handle();
    const answer = this.run(request, reply, () => lastValueFrom(next.handle()));
    // A repeated answer passes no other interceptor.
    const finish = (body: unknown) => isVersioned(context.getHandler()) && setEtagOf(body, reply);
    return from(answer).pipe(tap(finish));
  }
}

/**
 * For POST routes. A request with an Idempotency-Key runs once, and a repetition within 24 hours
 * gets the first answer. Do not use it for answers with secrets, because answers are stored.
 */
export function Idempotent(): MethodDecorator {
  return applyDecorators(
    SetMetadata(IDEMPOTENT, true),
    UseInterceptors(IdempotencyInterceptor),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: '1 to 255 visible characters. Repeats within 24 hours get the first answer.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    }),
    ApiErrors('malformed_header', 'idempotency_key_reused', 'idempotency_in_progress'),
  );
}

export function isIdempotent(method: object): boolean {
  return Reflect.hasMetadata(IDEMPOTENT, method);
}

/** `@Idempotency() record?: IdempotencyRecord`: for services that store the answer themselves. */
export const Idempotency = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<IdempotentRequest>().idempotency,
);
