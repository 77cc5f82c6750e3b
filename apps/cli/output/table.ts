import { cleanLine } from './clean.js';

export interface Column<T> {
  title: string;
  of: (row: T) => string | number | null | undefined;
  /** Gives way where the line is too long. */
  wide?: boolean;
}

const GAP = 2;
const NARROWEST = 8;

/** The lines of a table, none longer than `width` where wide columns can give way. */
export function tableLines<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  width: number,
): string[] {
  const cells = [
    columns.map(({ title }) => title.toUpperCase()),
    ...rows.map((row) => columns.map((column) => cellOf(row, column))),
  ];
  const widths = columns.map((_, index) =>
    Math.max(...cells.map((line) => widthOf(line[index] ?? ''))),
  );
  shrink(widths, columns, width);
  return cells.map((line) =>
    line
      .map((cell, index) => padded(cell, widths[index] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** The cells of a row for a pipe: tabs between, nothing cut. */
export function plainLine<T>(row: T, columns: readonly Column<T>[]): string {
  return columns.map((column) => cellOf(row, column)).join('\t');
}

function cellOf<T>(row: T, { of }: Column<T>): string {
  const value = of(row);
  return value === null || value === undefined || value === '' ? '-' : cleanLine(String(value));
}

function shrink<T>(widths: number[], columns: readonly Column<T>[], width: number): void {
  const total = () => widths.reduce((sum, one) => sum + one, 0) + GAP * (widths.length - 1);
  // First the wide ones, the widest of them first; then whatever is left.
  for (const isEligible of [(index: number) => columns[index]?.wide === true, () => true]) {
    for (let excess = total() - width; excess > 0; excess--) {
      const candidates = widths
        .map((one, index) => ({ one, index }))
        .filter(({ one, index }) => isEligible(index) && one > NARROWEST);
      const widest = candidates.sort((a, b) => b.one - a.one)[0];
      if (widest === undefined) break;
      widths[widest.index] = widest.one - 1;
    }
  }
}

function padded(cell: string, width: number): string {
  const excess = widthOf(cell) - width;
  if (excess <= 0) return cell + ' '.repeat(-excess);
  let cut = '';
  for (const letter of cell) {
    if (widthOf(cut) + widthOf(letter) >= width) break;
    cut += letter;
  }
  return `${cut}…${' '.repeat(Math.max(0, width - widthOf(cut) - 1))}`;
}

/** Columns of a terminal: East Asian wide letters and pictures take two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) width += WIDE.test(letter) ? 2 : MARK.test(letter) ? 0 : 1;
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const MARK = /\p{Mn}|\u200d|\ufe0f/u;
