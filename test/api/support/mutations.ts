import { isId, type Schema } from './schemas.js';
import { sampleObject, sampleOf } from './samples.js';

/** A body with one wrong value. */
export interface BadBody {
  what: string;
  /** The place, as errors name it: `entries[0].level`. */
  field: string;
  text: string;
}

/** Stands for a number that JSON.stringify cannot write. */
const HUGE = '@@1e400@@';
const NUL = 'a\u0000b';
const LONE = 'a\ud800b';

/** Returns every body of the schema with one wrong field, in every way that its type knows. */
export function badBodies(schema: Schema): BadBody[] {
  const good = sampleObject(schema);
  return [...spoilObject(schema, good, '')].map(({ what, field, value }) => ({
    what,
    field,
    text: toText(value),
  }));
}

/** Whole bodies that are not an object of any schema. */
export const NO_OBJECTS: readonly (readonly [string, string])[] = [
  ['a list', '[]'],
  ['a text', '"text"'],
  ['a number', '5'],
  ['null', 'null'],
];

interface Spoilt {
  what: string;
  field: string;
  value: unknown;
}

function toText(value: unknown): string {
  return JSON.stringify(value).replaceAll(`"${HUGE}"`, '1e400');
}

function* spoilObject(
  schema: Schema,
  good: Record<string, unknown>,
  path: string,
): Generator<Spoilt> {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  yield { what: 'an unknown field', field: at('surplus'), value: { ...good, surplus: 1 } };
  for (const name of ['__proto__', 'constructor']) {
    const poison = Object.defineProperty({ ...good }, name, {
      value: { prototype: { isOperator: true } },
      enumerable: true,
    });
    yield { what: `a field named ${name}`, field: at(name), value: poison };
  }
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    for (const { what, field, value } of spoil(child, at(name), good[name])) {
      yield { what, field, value: { ...good, [name]: value } };
    }
    if (schema.required?.includes(name)) {
      const without = Object.fromEntries(Object.entries(good).filter(([key]) => key !== name));
      yield { what: 'a missing field', field: at(name), value: without };
    }
  }
}

function* spoil(schema: Schema, field: string, good: unknown): Generator<Spoilt> {
  for (const [what, value] of wrongValues(schema)) yield { what, field, value };
  if (schema.nullable !== true) yield { what: 'null', field, value: null };
  if (schema.type === 'array') yield* spoilItems(schema, field);
  if (schema.properties) {
    const before = (good ?? sampleObject(schema)) as Record<string, unknown>;
    yield* spoilObject(schema, before, field);
  }
}

function* spoilItems({ items = {}, maxItems, minItems }: Schema, field: string): Generator<Spoilt> {
  const forms = items.oneOf ?? [items];
  for (const form of forms) {
    for (const { what, field: at, value } of spoil(form, `${field}[0]`, undefined)) {
      // A wrong value of one form can be a right value of another form.
      if (forms.every((other) => other === form || !fits(other, value))) {
        yield { what: `in a list, ${what}`, field: at, value: [value] };
      }
    }
  }
  if (maxItems !== undefined && maxItems <= 1_000) {
    const value = Array.from({ length: maxItems + 1 }, () => sampleOf(items));
    yield { what: 'too many items', field, value };
  }
  if (minItems) yield { what: 'too few items', field, value: [] };
}

function fits(schema: Schema, value: unknown): boolean {
  const { type, minimum = 0, pattern = '' } = schema;
  if (type === 'string') return typeof value === 'string' && new RegExp(pattern).test(value);
  if (type === 'number') return typeof value === 'number' && value >= minimum;
  if (type === 'integer') return Number.isInteger(value) && (value as number) >= minimum;
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Wrong = readonly [what: string, value: unknown];

function wrongValues(schema: Schema): Wrong[] {
  // A wrong value of one form can be a right value of another form.
  const { oneOf: forms } = schema;
  if (forms) {
    return forms.flatMap(wrongValues).filter(([, value]) => !forms.some((one) => fits(one, value)));
  }
  if (schema.enum) return wrongTexts(schema).concat([['an unknown word', 'NO_SUCH_WORD']]);
  switch (schema.type) {
    case 'string':
      return wrongTexts(schema);
    case 'integer':
      return [...wrongNumbers(schema), ['a fraction', (schema.minimum ?? 0) + 0.5]];
    case 'number':
      return wrongNumbers(schema);
    case 'boolean':
      return [...others('boolean'), ['a flag as a text', 'true']];
    case 'array':
      return others('array');
    default:
      return [...others('object'), ...(schema.additionalProperties ? UNSAFE : [])];
  }
}

const SAMPLES: Record<string, unknown> = {
  string: 'text',
  number: 5,
  boolean: true,
  array: [],
  object: {},
};

function others(type: string): Wrong[] {
  return Object.entries(SAMPLES)
    .filter(([name]) => name !== type)
    .map(([name, value]) => [`of type ${name}`, value]);
}

function wrongNumbers({ minimum = 0, maximum = 0 }: Schema): Wrong[] {
  return [
    ...others('number'),
    ['a number as a text', String(minimum)],
    ['too small', minimum - 1],
    ['far too small', -9_007_199_254_740_992],
    ['too large', maximum + 1],
    ['larger than 64 bits', 1e20],
    ['out of range', HUGE],
  ];
}

function wrongTexts(schema: Schema): Wrong[] {
  const { minLength = 0, maxLength, format, pattern } = schema;
  const wrong: Wrong[] = [
    ...others('string'),
    ['with a NUL character', NUL],
    ['with a lone surrogate', LONE],
  ];
  if (minLength > 0) wrong.push(['empty', '']);
  if (minLength === 1) wrong.push(['blank', ' \t ']);
  if (maxLength !== undefined) wrong.push(['too long', 'x'.repeat(maxLength + 1)]);
  if (pattern !== undefined) wrong.push(['of another form', '\u2603 \u2603']);
  if (isId(schema)) wrong.push(['no UUID', 'not-a-uuid'], ['in braces', `{${FINE_UUID}}`]);
  if (format === 'date-time') wrong.push(...NO_TIMES.map((time) => ['no time', time] as const));
  return wrong;
}

const FINE_UUID = '0190a000-0000-7000-8000-000000000000';

export const NO_TIMES = [
  'yesterday',
  '2026-01-31',
  '2026-01-31T12:00:00',
  '2026-02-31T12:00:00Z',
  '2026-13-01T12:00:00Z',
  '2026-01-31T12:00:00+99:00',
  '2026-01-31T12:00:00+23:59',
  '0000-01-01T00:00:00Z',
] as const;

/** Wrong values for objects whose content is the client's own. */
const UNSAFE: Wrong[] = [
  ['with a NUL character inside', { a: [NUL] }],
  ['with a NUL character in a key', { [NUL]: 1 }],
  ['with a lone surrogate inside', { a: { b: LONE } }],
  ['with a lone surrogate in a key', { [LONE]: 1 }],
  ['with a number out of range inside', { a: HUGE }],
  ['with a key named __proto__ inside', { a: JSON.parse('{"__proto__": {"b": 1}}') as unknown }],
  ['nested a hundred levels deep', nested(100)],
];

function nested(levels: number): unknown {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}
