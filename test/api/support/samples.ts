import { newId } from '#lib/kernel';
import { isId, type Schema } from './schemas.js';

/** Texts that match patterns which random texts do not match. */
const BY_PATTERN: [RegExp, () => string][] = [
  [/^\^(?:\\d|\(\?:0)/, () => '1'],
  [/\[0-9a-f\]\{40\}/, () => 'a'.repeat(40)],
  [/^\^https\?:/, () => 'https://example.com/'],
  [/^\^dri_/, () => 'dri_'.padEnd(47, 'a')],
  [/@/, () => `sample-${newId()}@example.test`],
  [/./, () => `sample-${newId().slice(-8)}`],
];

/** Returns the smallest value that the schema accepts. */
export function sampleOf(schema: Schema): unknown {
  if (schema.nullable) return null;
  if (schema.enum) return schema.enum[0];
  if (schema.oneOf) return sampleOf(schema.oneOf[0] as Schema);
  switch (schema.type) {
    case 'string':
      return sampleText(schema);
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return false;
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items as Schema));
    default:
      return sampleObject(schema);
  }
}

/** Returns an object with the required fields only. */
export function sampleObject(schema: Schema): Record<string, unknown> {
  const { properties = {}, required = [] } = schema;
  return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] as Schema)]));
}

function sampleText(schema: Schema): string {
  const { format, pattern, minLength = 1 } = schema;
  if (isId(schema)) return newId();
  if (format === 'date-time') return '2026-01-31T12:00:00Z';
  if (pattern !== undefined) {
    const make = BY_PATTERN.find(([marker]) => marker.test(pattern))?.[1];
    if (make) return make();
  }
  return 'sample text'.padEnd(minLength, '.');
}
