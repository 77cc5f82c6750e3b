import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DroverError, isStorableText } from '#lib/kernel';
import { completeIds, finderFor, type ShortId } from '../parameters/short-ids.js';
import { type DtoClass, planOf } from './plan.js';
import { requestOf } from './request-of.js';
import { build, type Visit } from './run.js';

const NOT_DTOS = new Set<unknown>([String, Number, Boolean, Array, Object, Buffer, undefined]);

/**
 * Validates bodies and queries against their DTO classes with class-validator's decorators.
 *
 * It refuses unknown fields and names every invalid field with its path, such as
 * `dependsOn[0].taskId`. In a query, text becomes the field's type (numbers, booleans, lists). The
 * result is an instance of the class, whose ids are whole.
 *
 * @throws DroverError `validation_failed` with up to 50 errors, or `ambiguous_id`
 */
export class DtoPipe implements PipeTransform {
  transform(value: unknown, { type, metatype, data }: ArgumentMetadata): unknown {
    if (type === 'param') return checkedParam(value, data);
    if ((type !== 'body' && type !== 'query') || NOT_DTOS.has(metatype)) return value;
    const request = requestOf(value);
    const fromQuery = type === 'query';
    if (request === undefined) return validateDto(metatype as DtoClass, value, fromQuery);
    return readDto(request, metatype as DtoClass, value, fromQuery);
  }
}

/** The same for a value of the request. It is a promise only if it completes ids. */
export function readDto<T extends object>(
  request: FastifyRequest,
  type: new () => T,
  value: unknown = {},
  fromQuery = false,
): T | Promise<T> {
  const find = finderFor(request);
  const shortIds: ShortId[] = [];
  const instance = validate(type, value, { errors: [], fromQuery, shortIds: find && shortIds });
  if (find === undefined || shortIds.length === 0) return instance;
  return completeIds(find, shortIds).then(() => instance);
}

/** The same outside of a request, for values from another source. Their ids must be whole. */
export function validateDto<T extends object>(
  type: new () => T,
  value: unknown = {},
  fromQuery = false,
): T {
  return validate(type, value, { errors: [], fromQuery });
}

function validate<T extends object>(type: new () => T, value: unknown, visit: Visit): T {
  const instance = build(planOf(type), value, '', visit);
  if (visit.errors.length > 0) throw new DroverError('validation_failed', { errors: visit.errors });
  return instance as T;
}

function checkedParam(value: unknown, name: string | undefined): unknown {
  if (typeof value !== 'string' || isStorableText(value)) return value;
  const message = 'holds a NUL character or a lone surrogate';
  throw new DroverError('validation_failed', { errors: [{ field: name ?? 'path', message }] });
}
