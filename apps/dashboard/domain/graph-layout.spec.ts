import { expect, it } from '@jest/globals';
import { layoutColumns } from './graph-layout.js';

/** Parses edges: in `ab bc`, a comes before b and b before c. */
const edges = (text: string) =>
  text.split(' ').flatMap(([from = '', to = '']) => (from ? [{ from, to }] : []));

it.each([
  ['alone', 'a', '', [['a']]],
  ['a chain', 'cba', 'ab bc', [['a'], ['b'], ['c']]],
  ['a diamond', 'abcd', 'ab ac bd cd', [['a'], ['b', 'c'], ['d']]],
  ['an edge that skips a column', 'abc', 'ab bc ac', [['a'], ['b'], ['c']]],
  [
    'edges that would cross',
    'abyx',
    'ax by',
    [
      ['a', 'b'],
      ['x', 'y'],
    ],
  ],
  ['a cycle with a successor', 'abcd', 'ab bc cb cd', [['a'], ['b', 'c', 'd']]],
  ['a task that depends on itself', 'a', 'aa', [['a']]],
])('%s is laid out in columns', (_, ids, text, columns) => {
  expect(layoutColumns([...ids], edges(text))).toEqual(columns);
});
