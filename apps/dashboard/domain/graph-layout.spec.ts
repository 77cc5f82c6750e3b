import { expect, it } from '@jest/globals';
import { layoutGraph, NODE } from './graph-layout.js';

/** Parses edges: in `ab bc`, a comes before b and b before c. */
const edges = (text: string) =>
  text.split(' ').flatMap(([from = '', to = '']) => (from ? [{ from, to }] : []));

it.each([
  ['a task alone', 'a', '', 'a'],
  ['a chain', 'cba', 'ab bc', 'a b c'],
  ['a diamond', 'abcd', 'ab ac bd cd', 'a bc d'],
  ['an edge that skips a column', 'abc', 'ab bc ac', 'a b c'],
])('%s is laid out in columns without overlaps', (_, ids, text, columns) => {
  const placed = [...layoutGraph([...ids], edges(text))];
  const places = [...new Set(placed.map(([, { x }]) => x))].sort((one, other) => one - other);
  const sorted = places.map((place) => placed.filter(([, { x }]) => x === place));
  expect(sorted.map((column) => column.map(([id]) => id).join('')).join(' ')).toBe(columns);
  for (const column of sorted) {
    const rows = column.map(([, { y }]) => y).sort((one, other) => one - other);
    for (const [index, y] of rows.slice(1).entries())
      expect(y - Number(rows[index])).toBeGreaterThan(NODE.height);
  }
});

it('a cycle is laid out with a place for each task', () => {
  const placed = layoutGraph([...'abcd'], edges('ab bc cb cd aa'));
  expect(new Set([...placed.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(4);
});
