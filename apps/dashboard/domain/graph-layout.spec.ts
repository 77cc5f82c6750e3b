import { expect, it } from '@jest/globals';
import { columnsOf } from './graph-layout.js';

/** `ab bc`: a comes before b, b before c. */
const edges = (text: string) =>
  text.split(' ').flatMap(([from = '', to = '']) => (from ? [{ from, to }] : []));

it.each([
  ['alone', 'a', '', [['a']]],
  ['a chain', 'cba', 'ab bc', [['a'], ['b'], ['c']]],
  ['a diamond', 'abcd', 'ab ac bd cd', [['a'], ['b', 'c'], ['d']]],
  ['a way that skips a column', 'abc', 'ab bc ac', [['a'], ['b'], ['c']]],
  [
    'lines that would cross',
    'abyx',
    'ax by',
    [
      ['a', 'b'],
      ['x', 'y'],
    ],
  ],
  ['a cycle, with what is behind it', 'abcd', 'ab bc cb cd', [['a'], ['b', 'c', 'd']]],
  ['a task that waits for itself', 'a', 'aa', [['a']]],
])('%s stands in columns', (_, ids, text, columns) => {
  expect(columnsOf([...ids], edges(text))).toEqual(columns);
});
