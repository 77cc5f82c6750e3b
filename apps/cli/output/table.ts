import { cleanLine } from './clean.js';

export interface Column<T> {
  title: string;
  of: (row: T) => string | number | null | undefined;
  /** Gives way where the line is too long. */
  wide?: boolean;
}

const GAP = 2;
const NARROWEST = 8;
const NOTHING = '-';

/** Columns at the beginning that say which row it is: they stay. */
const KEPT = 2;

/**
 * The lines of a table, none longer than `width`: wide columns give way, then columns at the end are left out. What
 * one copies, such as an id, is never cut.
 *
 * @returns undefined when the terminal is too narrow for it
 */
export function tableLines<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  width: number,
): string[] | undefined {
  const cells = [
    columns.map(({ title }) => title.toUpperCase()),
    ...rows.map((row) => columns.map((column) => cellOf(row, column))),
  ];
  const fields = columns.map(({ wide }, index) => {
    const widest = Math.max(...cells.map((line) => widthOf(line[index] ?? '')));
    return { index, wide: wide === true, width: widest };
  });
  const shown = fitted(fields, width);
  return shown && cells.map((line) => lineOf(line, shown));
}

/** The cells of each row a line each, with an empty line between rows. */
export function stackedLines<T>(rows: readonly T[], columns: readonly Column<T>[]): string[] {
  const label = Math.max(...columns.map(({ title }) => title.length)) + GAP;
  return rows.flatMap((row, index) => {
    const lines = columns
      .map((column) => ({ title: column.title, cell: cellOf(row, column) }))
      .filter(({ cell }) => cell !== NOTHING)
      .map(({ title, cell }) => title.padEnd(label) + cell);
    return index === 0 ? lines : ['', ...lines];
  });
}

/** The cells of a row for a pipe: tabs between, nothing cut. */
export function plainLine<T>(row: T, columns: readonly Column<T>[]): string {
  return columns.map((column) => cellOf(row, column)).join('\t');
}

function cellOf<T>(row: T, { of }: Column<T>): string {
  const value = of(row);
  return value === null || value === undefined || value === '' ? NOTHING : cleanLine(String(value));
}

interface Field {
  index: number;
  wide: boolean;
  width: number;
}

function fitted(fields: readonly Field[], width: number): Field[] | undefined {
  const shown = fields.map((field) => ({ ...field }));
  for (;;) {
    const excess = shrink(shown, lengthOf(shown) - width);
    if (excess <= 0) return shown;
    const last = shown.findLastIndex(({ wide, index }) => !wide && index >= KEPT);
    if (last < 0) return undefined;
    shown.splice(last, 1);
    // Those that gave way have room again.
    for (const field of shown) field.width = fields[field.index]?.width ?? 0;
  }
}

/** Makes wide fields narrower, the widest of them first. @returns what is still too much */
function shrink(fields: readonly Field[], excess: number): number {
  for (let left = excess; ; left--) {
    const [widest] = fields
      .filter(({ wide, width }) => wide && width > NARROWEST)
      .sort((a, b) => b.width - a.width);
    if (left <= 0 || widest === undefined) return left;
    widest.width -= 1;
  }
}

function lengthOf(fields: readonly Field[]): number {
  return fields.reduce((sum, { width }) => sum + width, GAP * (fields.length - 1));
}

function lineOf(cells: readonly string[], fields: readonly Field[]): string {
  const parts = fields.map(({ index, width }) => padded(cells[index] ?? '', width));
  return parts.join(' '.repeat(GAP)).trimEnd();
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
