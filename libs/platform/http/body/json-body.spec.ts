import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DroverError, isStorableText } from '#lib/kernel';
import { parseJsonBody } from './json-body.js';

function parse(text: string): unknown {
  return parseJsonBody(Buffer.from(text));
}

function refusalOf(text: string): string {
  try {
    parse(text);
    return 'accepted';
  } catch (error) {
    const { code, extras } = error as DroverError;
    return code === 'validation_failed' ? (extras.errors?.[0]?.field ?? '') : code;
  }
}

const nested = (levels: number, open: string, close: string) =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;

describe('a JSON body', () => {
  it.each([
    ['', {}],
    ['{"a":[1,"ü",null]}', { a: [1, 'ü', null] }],
    ['{"constructor":"Ada"}', { constructor: 'Ada' }],
    ['{"a":"\\u00e9 \\ud83d\\ude00"}', { a: 'é 😀' }],
    ['{"a":1e3}', { a: 1000 }],
    [
      '{"a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}',
      expect.anything(),
    ],
  ])('the body %j is parsed', (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  it.each([
    ['{', 'malformed_json'],
    ['\uFEFF{}', 'malformed_json'],
    ['{"a":\u0000}', 'malformed_json'],
    ['{"a":{"__proto__":1}}', 'a.__proto__'],
    ['{"a":[{"__pr\\u006fto__":1}]}', 'a[0].__proto__'],
    ['{"constructor":{"prototype":{}}}', 'constructor'],
    ['{"c\\u006fnstructor":{"prototype":{}}}', 'constructor'],
    ['{"a":"x\\u0000"}', 'a'],
    ['{"a":["\\udc00"]}', 'a[0]'],
    ['{"a\\u0000":1}', 'a\uFFFD'],
    ['"\\u0000"', 'body'],
    ['{"a":1e999}', 'a'],
    [`{"a":-${'9'.repeat(400)}}`, 'a'],
  ])('the body %j is refused as %j', (text, expected) => {
    expect(refusalOf(text)).toBe(expected);
  });

  it('a body can nest 64 levels and no more', () => {
    expect(refusalOf(nested(64, '[', ']'))).toBe('accepted');
    expect(refusalOf(nested(65, '[', ']'))).toMatch(/^\[0\]/);
    expect(refusalOf(nested(500_000, '[', ']'))).toMatch(/^\[0\]/);
    expect(refusalOf(nested(65, '{"a":', '}'))).toMatch(/^a\.a/);
  });

  it('a body can nest as many levels as configured', () => {
    const body = (levels: number) => Buffer.from(nested(levels, '{"a":', '}'));
    expect(() => parseJsonBody(body(70), 70)).not.toThrow();
    expect(() => parseJsonBody(body(71), 70)).toThrow(DroverError);
  });

  it('the path in a refusal contains no half of a character', () => {
    expect(refusalOf(`{"${'x'.repeat(199)}😀":"\\u0000"}`)).toBe(`${'x'.repeat(199)}\uFFFD`);
  });

  it('a body that is not UTF-8 is refused', () => {
    expect(() => parseJsonBody(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toThrow(DroverError);
  });

  it('every accepted body can be stored', () => {
    const escaped = (json: string) =>
      json.replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary', noUnicodeString: false } as never), (json) => {
        for (const text of [json, escaped(json)]) {
          if (refusalOf(text) !== 'accepted') continue;
          expect(isStorable(parse(text))).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});

/** Whether Postgres accepts it as jsonb with at most 64 levels. */
function isStorable(value: unknown, levels = 64): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === null || typeof value !== 'object') return true;
  const entries = Object.entries(value);
  return (
    levels > 0 &&
    entries.every(([key, child]) => {
      return key !== '__proto__' && isStorableText(key) && isStorable(child, levels - 1);
    })
  );
}
