import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { DroverError, isStorableText } from '#lib/kernel';
import { type DtoClass, planOf } from './plan.js';
import { build, type Visit } from './run.js';

const NOT_DTOS = new Set<unknown>([String, Number, Boolean, Array, Object, Buffer, undefined]);

/**
 * Validates bodies and queries against their DTO classes with class-validator's decorators.
 *
 * It refuses unknown fields and names every invalid field with its path, such as
 * `dependsOn[0].taskId`. In a query, text becomes the field's type (numbers, booleans, lists). The
 * result is an instance of the class.
 *
 * @throws DroverError `validation_failed` with up to 50 errors
 */
export class DtoPipe implements PipeTransform {
  transform(value: unknown, { type, metatype, data }: ArgumentMetadata): unknown {
    if (type === 'param') return checkedParam(value, data);
    if ((type !== 'body' && type !== 'query') || NOT_DTOS.has(metatype)) return value;
    return validateDto(metatype as DtoClass, value, type === 'query');
  }
}

/** The same outside of a request, for values from another source. */
export function validateDto<T extends object>(
  type: new () => T,
  value: unknown = {},
  fromQuery = false,
): T {
  const visit: Visit = { errors: [], fromQuery };
  const instance = build(planOf(type), value, '', visit);
  if (visit.errors.length > 0) throw new DroverError('validation_failed', { errors: visit.errors });
  return instance as T;
}

function checkedParam(value: unknown, name: string | undefined): unknown {
  if (typeof value !== 'string' || isStorableText(value)) return value;
  const message = 'holds a NUL character or a lone surrogate';
  throw new DroverError('validation_failed', { errors: [{ field: name ?? 'path', message }] });
}
