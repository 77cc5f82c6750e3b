import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { field, type FieldOptions } from '#lib/http';

const DIGITS = /^(?:0|[1-9]\d{0,18})$/;

/** A number of tokens from `min` to `max`: a whole number, or its decimal digits. It becomes the digits. */
export function Tokens(min: bigint, max: bigint, options: FieldOptions = {}): PropertyDecorator {
  const rule = {
    name: 'tokens',
    message: `must be a whole number from ${min} to ${max}, or its digits as a string`,
    holds: (value: unknown) =>
      typeof value === 'string' &&
      DIGITS.test(value) &&
      BigInt(value) >= min &&
      BigInt(value) <= max,
    schema: {
      oneOf: [
        { type: 'integer', minimum: Number(min), maximum: Number(max) },
        { type: 'string', pattern: DIGITS.source },
      ],
    },
  };
  return applyDecorators(
    Transform(({ value }) => digitsOf(value)),
    field(rule, options),
  );
}

/** A number that JSON has made inexact is none. */
function digitsOf(value: unknown): unknown {
  return Number.isSafeInteger(value) ? String(value) : value;
}
