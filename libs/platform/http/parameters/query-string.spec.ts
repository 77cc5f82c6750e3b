import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseQuery } from './query-string.js';

describe('a query string', () => {
  it.each([
    ['', {}],
    ['a=1&b=x%20y', { a: '1', b: 'x y' }],
    ['a=1&a=2', { a: ['1', '2'] }],
    ['priority>=8', { priorityGte: '8' }],
    ['priority<=3', { priorityLte: '3' }],
    ['priority%3E=8', { priorityGte: '8' }],
    ['priority%3c%3d3', { priorityLte: '3' }],
    ['priority>=8&priority<=9', { priorityGte: '8', priorityLte: '9' }],
    ['priority>=8&priorityGte=7', { priorityGte: ['8', '7'] }],
    ['priority>=', { priorityGte: '' }],
    ['priority>8', { 'priority>8': '' }],
    ['a.b>=1', { 'a.b>': '1' }],
    ['text=a%3E%3Db', { text: 'a>=b' }],
    ['text=a>=b', { text: 'a>=b' }],
    ['text=a+b%26', { text: 'a b&' }],
    ['text=%zz', { text: '\ud800' }],
    ['text=a%ED%A0%80&b=%', { text: '\ud800', b: '\ud800' }],
  ])('%s', (text, expected) => {
    expect({ ...parseQuery(text) }).toEqual(expected);
  });

  it('no query string throws or touches a prototype', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(Object.getPrototypeOf(parseQuery(text))).toBeNull();
      }),
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
