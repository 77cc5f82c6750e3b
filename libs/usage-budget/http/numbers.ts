import type { ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { applyDecorators } from '@nestjs/common';
import { field, type FieldOptions } from '#lib/http';

const MOST_TOKENS = 2n ** 63n - 1n;
const DIGITS = /^\d{1,19}$/;
/** USD per million tokens; no token of a model costs a dollar. */
const PRICE = /^\d{1,6}(?:\.\d{1,6})?$/;

/** A count of tokens: a whole number or its decimal digits, of 64 bits; becomes the shortest text. */
export function Tokens(options: FieldOptions = {}): PropertyDecorator {
  const rule = {
    name: 'tokens',
    message: `must be a whole number from 0 to ${MOST_TOKENS}, or its digits as a string`,
    holds: isTokens,
    schema: {
      oneOf: [
        { type: 'string', pattern: DIGITS.source },
        { type: 'integer', minimum: 0 },
      ],
    } as unknown as ApiPropertyOptions,
  };
  const shorten = ({ value }: { value: unknown }) =>
    isTokens(value) ? BigInt(value as string | number).toString() : value;
  return applyDecorators(Transform(shorten), field(rule, { example: '10000', ...options }));
}

function isTokens(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  return typeof value === 'string' && DIGITS.test(value) && BigInt(value) <= MOST_TOKENS;
}

/** USD per million tokens: a decimal of six places before the point and six behind it at most. */
export function UsdPrice(options: FieldOptions = {}): PropertyDecorator {
  const rule = {
    name: 'usdPrice',
    message:
      'must be a string such as "3.75", with six digits before the point and six behind it at most',
    holds: (value: unknown) => typeof value === 'string' && PRICE.test(value),
    schema: { type: 'string', pattern: PRICE.source } as const,
  };
  return field(rule, options);
}
