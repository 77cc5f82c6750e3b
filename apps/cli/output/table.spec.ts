import { describe, expect, it } from '@jest/globals';
import { type Column, plainLine, tableLines, widthOf } from './table.js';

interface Row {
  id: string;
  title: string | null;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'title', of: ({ title }) => title, wide: true },
];
const ROWS: readonly Row[] = [
  { id: 'a1', title: 'Short' },
  { id: 'b22', title: 'A title that is far too long for a terminal of forty columns' },
];

describe('a table', () => {
  it('a table has a header and aligned columns', () => {
    expect(tableLines(ROWS.slice(0, 1), COLUMNS, 80)).toEqual(['ID  TITLE', 'a1  Short']);
  });

  it.each([20, 40, 60])('a table of %d columns cuts wide cells', (width) => {
    const lines = tableLines(ROWS, COLUMNS, width) ?? [];
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
    expect(lines[2]).toMatch(/^b22 {2}A title .*…$/);
  });

  it('a wide character counts as two columns', () => {
    const rows = [{ id: '漢字', title: '🚀 up' }];
    expect(tableLines(rows, COLUMNS, 80)).toEqual(['ID    TITLE', '漢字  🚀 up']);
    const cut = tableLines([{ id: 'x', title: '漢'.repeat(30) }], COLUMNS, 20) ?? [];
    expect(widthOf(cut[1] ?? '')).toBe(19);
  });

  it('an empty cell is a dash, and a cell has one line', () => {
    expect(plainLine({ id: '', title: null }, COLUMNS)).toBe('-\t-');
    expect(plainLine({ id: 'a\tb', title: 'two\nlines' }, COLUMNS)).toBe('a b\ttwo lines');
  });
});
