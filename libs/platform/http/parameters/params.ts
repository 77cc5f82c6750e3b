import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader, ApiParam } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { DroverError, ID_PREFIX, isIdPrefix, isUuid } from '#lib/kernel';
import { ApiErrors } from '../openapi/api-errors.js';
import { collectionOf, completeIds, finderFor, SHORT_ID } from './short-ids.js';

interface IdParam {
  name: string;
  /** Refuses the first digits of an id. */
  whole: boolean;
}

const ReadUuid = createParamDecorator((param: IdParam, context: ExecutionContext) =>
  readId(context.switchToHttp().getRequest<FastifyRequest>(), param),
);

function readId(request: FastifyRequest, { name, whole }: IdParam): string | Promise<string> {
  const params = request.params as Record<string, string>;
  const { [name]: value } = params;
  if (whole || !isIdPrefix(value)) return requireUuid(name, value);
  const find = finderFor(request);
  const collection = collectionOf(request, name);
  if (find === undefined || collection === undefined) return requireUuid(name, value);
  // Readers of the request's path see the whole id too, such as the audit log.
  const replace = (id: string) => void (params[name] = id);
  const shortId = { digits: value, collections: () => [collection], field: name, replace };
  return completeIds(find, [shortId]).then(() => params[name] as string);
}

/** @throws DroverError `validation_failed` */
export function requireUuid(field: string, value: unknown): string {
  if (isUuid(value)) return value.toLowerCase();
  throw new DroverError('validation_failed', { errors: [{ field, message: 'must be a UUID' }] });
}

/**
 * A path parameter that is a UUID, or its first digits: `@UuidParam('agentId') agentId: string`. A
 * malformed id gets 400 with the parameter's name, and digits of several things 409. The service
 * answers 404 for an unknown one. A route that creates things by id needs `whole`, which refuses
 * first digits with 400.
 */
export function UuidParam(name = 'id', { whole = false } = {}): ParameterDecorator {
  const schema = whole
    ? { format: 'uuid' }
    : { pattern: ID_PREFIX.source, description: `The id. ${SHORT_ID}` };
  const words = [ApiParam({ name, type: String, ...schema }), ApiErrors('validation_failed')];
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
