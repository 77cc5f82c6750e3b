import { describe, expect, it } from '@jest/globals';
import { DroverError } from '#lib/kernel';
import { readKey } from '../idempotency/key.js';
import { parseIfMatch } from './params.js';
import { requestIdOf } from '../server/request-id.js';

describe('If-Match', () => {
  it.each([
    [undefined, undefined],
    ['*', undefined],
    ['"3"', 3],
    ['W/"3"', 3],
    ['3', 3],
    [' "12" ', 12],
    ['"0"', 0],
    ['"2147483647"', 2_147_483_647],
  ])('If-Match %s means %s', (header, expected) => {
    expect(parseIfMatch(header)).toBe(expected);
  });

  it.each(['', '"', '"a"', '"1", "2"', '-1', '1.5', '"1', 'w/"1"', '2147483648', '1e3', '\u0661'])(
    'If-Match %s is refused',
    (header) => {
      expect(() => parseIfMatch(header)).toThrow(DroverError);
    },
  );
});

describe('Idempotency-Key', () => {
  it.each(['a', 'x'.repeat(255), '"quoted"'])('%s is a valid Idempotency-Key', (key) => {
    expect(readKey(key)).toBe(key);
  });

  it.each(['', 'a b', 'ü', 'x'.repeat(256), 'a\tb'])('%j is no Idempotency-Key', (key) => {
    expect(() => readKey(key)).toThrow(DroverError);
  });
});

describe('a request id', () => {
  it('a printable request id of the client is used', () => {
    expect(requestIdOf({ headers: { 'x-request-id': 'abc-1' } })).toBe('abc-1');
  });

  it.each([undefined, '', 'a b', 'x'.repeat(129), 'é'])(
    'the request id %j is replaced by a new UUID',
    (given) => {
      const [one, two] = [0, 1].map(() => requestIdOf({ headers: { 'x-request-id': given } }));
      expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(two).not.toBe(one);
    },
  );
});
