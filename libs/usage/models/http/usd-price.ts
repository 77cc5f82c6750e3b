import { field, type FieldOptions } from '#lib/http';

/** USD per million tokens; no token of a model costs a dollar. */
const PRICE = /^\d{1,6}(?:\.\d{1,6})?$/;

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
