import { NO_TIMES } from './mutations.js';
import type { Parameter, Route } from './openapi.js';
import { isId, type Schema } from './schemas.js';

/** A query string that is wrong in one parameter. */
export interface BadQuery {
  what: string;
  field: string;
  text: string;
}

export function badQueries({ queryParams }: Route): BadQuery[] {
  const unknown = ['surplus', '__proto__', 'constructor'].map((field) => ({
    what: 'an unknown parameter',
    field,
    text: `${field}=1`,
  }));
  return [...unknown, ...queryParams.flatMap((parameter) => spoil(parameter))];
}

function spoil({ name, schema }: Parameter): BadQuery[] {
  const bad = wrongTexts(schema).map(([what, text]) => ({
    what,
    field: name,
    text: `${name}=${text}`,
  }));
  if (schema.type === 'array') return bad;
  const [one, two] = twoRightOnes(schema);
  const repeated = { what: 'given twice', field: name, text: `${name}=${one}&${name}=${two}` };
  // Two cursors are valid texts. The list checks later whether it issued them.
  return [...bad, repeated, { what: 'empty', field: name, text: `${name}=` }];
}

type Wrong = readonly [what: string, escaped: string];

const UNSTORABLE: Wrong[] = [
  ['with a NUL character', 'a%00b'],
  ['escaped wrongly', 'a%zz'],
  ['with half of a character', 'a%ED%A0%80'],
];

function wrongTexts(schema: Schema): Wrong[] {
  const { type, enum: words, format, items, maxLength } = schema;
  if (type === 'array') return items ? wrongTexts(items) : [];
  if (words) return [...UNSTORABLE, ['an unknown word', 'NO_SUCH_WORD']];
  if (type === 'integer') return NO_INTEGERS;
  if (type === 'boolean')
    return [
      ['no flag', 'maybe'],
      ['a number', '1'],
    ];
  if (isId(schema)) return [...UNSTORABLE, ['no UUID', 'not-a-uuid']];
  if (format === 'date-time') {
    return NO_TIMES.map((time) => ['no time', encodeURIComponent(time)] as const);
  }
  return [...UNSTORABLE, ['too long', 'x'.repeat((maxLength ?? 10_000) + 1)]];
}

const NO_INTEGERS: Wrong[] = [
  ['no number', 'many'],
  ['negative', '-1'],
  ['a fraction', '1.5'],
  ['huge', '99999999999999999999'],
  ['in hexadecimal', '0x1'],
  ['with an exponent', '1e1'],
  ['not a number', 'NaN'],
];

function twoRightOnes({ type, enum: words, format, minimum = 0 }: Schema): [string, string] {
  if (words) return [String(words[0]), String(words[0])];
  if (type === 'boolean') return ['true', 'false'];
  if (type === 'integer') return [String(minimum), String(minimum + 1)];
  if (format === 'date-time') return ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z'];
  const id = '0190a000-0000-7000-8000-000000000000';
  return [id, id];
}

/** Cursors that no list issues: not base64, not JSON, of another shape, of other types. */
export const BAD_CURSORS: readonly string[] = [
  'garbage',
  '%00',
  '%F0%9F%92%A9',
  ...[
    'not json',
    '{}',
    '[]',
    'null',
    '"text"',
    '["text"]',
    '[1.5]',
    '[1e300]',
    '[null]',
    '[[]]',
    '[{"__proto__":1}]',
    '["a\\u0000b"]',
    '["\\ud800"]',
    '["text","text"]',
    '["text",1.5]',
    '[1e300,"text"]',
    '["99999999999999999999"]',
    '["2026-02-31T00:00:00Z","text"]',
    `["${'x'.repeat(300)}"]`,
    '[1,2,3,4,5,6]',
  ].map((json) => Buffer.from(json).toString('base64url')),
];

/** Ids in a path that are invalid. */
export const BAD_IDS: readonly (readonly [string, string])[] = [
  ['no UUID', 'not-a-uuid'],
  ['a UUID and more', '0190a000-0000-7000-8000-000000000000x'],
  ['too short', '019'],
  ['with a NUL character', '0190a000%00'],
  ['of no form of UTF-8', '%ED%A0%80'],
  ['badly escaped', '%zz'],
  ['long', 'x'.repeat(900)],
  ['too long', 'x'.repeat(5_000)],
  ['a way up', '..%2f..%2fetc'],
  ['a key of a prototype', '__proto__'],
  ['blank', '%20'],
];
