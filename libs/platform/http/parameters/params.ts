import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader, ApiParam } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { DroverError, ID_PREFIX, isUuid } from '#lib/kernel';
import { ApiErrors } from '../openapi/api-errors.js';
import { completeId } from './short-ids.js';

interface IdParam {
  name: string;
  /** Refuses the first digits of an id. */
  whole: boolean;
}

const ReadUuid = createParamDecorator((param: IdParam, context: ExecutionContext) =>
  readId(context.switchToHttp().getRequest<FastifyRequest>(), param),
);

function readId(request: FastifyRequest, { name, whole }: IdParam): string | Promise<string> {
  const { [name]: value } = request.params as Record<string, string>;
  const isPrefix = !whole && !isUuid(value) && value !== undefined && ID_PREFIX.test(value);
  if (!isPrefix) return requireUuid(name, value);
  return completeId(request, name, value).then((id) => id ?? requireUuid(name, value));
}

/** @throws DroverError `validation_failed` */
export function requireUuid(field: string, value: unknown): string {
  if (isUuid(value)) return value.toLowerCase();
  throw new DroverError('validation_failed', { errors: [{ field, message: 'must be a UUID' }] });
}

const SHORT_ID =
  'The id. People and API keys can send its first digits instead, at least 4, if only one thing ' +
  'of a workspace has them.';

/**
 * A path parameter that is a UUID, or its first digits: `@UuidParam('agentId') agentId: string`. A
 * malformed id gets 400 with the parameter's name, and digits of several things 409. The service
 * answers 404 for an unknown one. A route that creates things by id needs `whole`, which refuses
 * first digits with 400.
 */
export function UuidParam(name = 'id', { whole = false } = {}): ParameterDecorator {
  const words = whole
    ? [ApiParam({ name, type: String, format: 'uuid' }), ApiErrors('validation_failed')]
    : [
        ApiParam({ name, type: String, format: 'uuid', description: SHORT_ID }),
        ApiErrors('validation_failed', 'ambiguous_id'),
      ];
  return documented(ReadUuid({ name, whole }), words);
}

const VERSION = /^(?:W\/)?"(\d{1,10})"$|^(\d{1,10})$/;

/**
 * The version in an If-Match header. `"3"`, `W/"3"` and `3` all mean 3. No header and `*` mean
 * none.
 *
 * @throws DroverError `malformed_header` for anything else
 */
export function parseIfMatch(header: string | undefined): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '*') return undefined;
  const match = VERSION.exec(text);
  const version = Number(match?.[1] ?? match?.[2] ?? Number.NaN);
  // Versions are Postgres integers. A larger number cannot be compared with them.
  if (version <= 2_147_483_647) return version;
  throw new DroverError('malformed_header', {
    detail: 'If-Match must hold one version, such as "3".',
  });
}

const ReadIfMatch = createParamDecorator((_: unknown, context: ExecutionContext) =>
  parseIfMatch(context.switchToHttp().getRequest<FastifyRequest>().headers['if-match']),
);

/** `@IfMatch() version: number | undefined`: the version that the client has read. */
export function IfMatch(): ParameterDecorator {
  return documented(ReadIfMatch(), [
    ApiHeader({
      name: 'If-Match',
      required: false,
      description:
        'The version that the request changes, from the ETag: `"3"`. If the row has another ' +
        'version, the server answers 412.',
      schema: { type: 'string', example: '"3"' },
    }),
    ApiErrors('malformed_header', 'version_mismatch'),
  ]);
}

function documented(read: ParameterDecorator, words: MethodDecorator[]): ParameterDecorator {
  return (prototype, method, index) => {
    read(prototype, method, index);
    if (method === undefined) return;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, method);
    if (descriptor) for (const document of words) document(prototype, method, descriptor);
  };
}
