import { field, type FieldOptions } from '#lib/http';

/** A price in USD per million tokens. No token costs a dollar. */
const PRICE = /^\d{1,6}(?:\.\d{1,6})?$/;

/** A decimal in USD per million tokens, with at most six digits on each side of the point. */
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
