import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  UseInterceptors,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { ApiErrors } from '../openapi/api-errors.js';
import { IdempotencyInterceptor, type IdempotentRequest } from './interceptor.js';

/**
 * For POST routes: a request that carries an Idempotency-Key runs once, whoever repeats it within 24
 * hours gets the first answer again. Not for answers with secrets in them: answers are stored.
 */
export function Idempotent(): MethodDecorator {
  return applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: '1 to 255 visible characters; repeats within 24 hours get the first answer.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    }),
    ApiErrors('malformed_header', 'idempotency_key_reused', 'idempotency_in_progress'),
  );
}

/** `@Idempotency() record?: IdempotencyRecord`: for services that store the answer themselves. */
export const Idempotency = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<IdempotentRequest>().idempotency,
);
