import { cleanLine } from './clean.js';

export interface Column<T> {
  title: string;
  of: (row: T) => string | number | null | undefined;
  /** The values are ids whose first digits commands accept. A terminal shows only these. */
  isId?: boolean;
  /** Whether the column shrinks if the line is too long. */
  wide?: boolean;
}

const GAP = 2;
const MIN_WIDTH = 8;
const EMPTY = '-';

/** The number of leading columns that identify a row and are never dropped. */
const FIXED_COLUMNS = 2;

/**
 * Formats a table in lines of at most `width` columns. Wide columns shrink first, then the last
 * columns are dropped. A value that users copy, such as an ID, is never cut.
 *
 * @returns undefined if the terminal is too narrow
 */
export function tableLines<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  width: number,
): string[] | undefined {
  const cells = [
    columns.map(({ title }) => title.toUpperCase()),
    ...rows.map((row) => columns.map((column) => formatCell(row, column))),
  ];
  const fields = columns.map(({ wide }, index) => {
    const widest = Math.max(...cells.map((line) => widthOf(line[index] ?? '')));
    return { index, wide: wide === true, width: widest };
  });
  const visible = fitFields(fields, width);
  return visible && cells.map((line) => formatLine(line, visible));
}

/** Formats one line for each cell, with an empty line between rows. */
export function stackedLines<T>(rows: readonly T[], columns: readonly Column<T>[]): string[] {
  const label = Math.max(...columns.map(({ title }) => title.length)) + GAP;
  return rows.flatMap((row, index) => {
    const lines = columns
      .map((column) => ({ title: column.title, cell: formatCell(row, column) }))
      .filter(({ cell }) => cell !== EMPTY)
      .map(({ title, cell }) => title.padEnd(label) + cell);
    return index === 0 ? lines : ['', ...lines];
  });
}

/** Formats a row for a pipe, separated by tabs and without cuts. */
export function plainLine<T>(row: T, columns: readonly Column<T>[]): string {
  return columns.map((column) => formatCell(row, column)).join('\t');
}

function formatCell<T>(row: T, { of }: Column<T>): string {
  const value = of(row);
  return value === null || value === undefined || value === '' ? EMPTY : cleanLine(String(value));
}

interface Field {
  index: number;
  wide: boolean;
  width: number;
}

function fitFields(fields: readonly Field[], width: number): Field[] | undefined {
  const visible = fields.map((field) => ({ ...field }));
  for (;;) {
    const excess = shrink(visible, totalWidth(visible) - width);
    if (excess <= 0) return visible;
    const last = visible.findLastIndex(({ wide, index }) => !wide && index >= FIXED_COLUMNS);
    if (last < 0) return undefined;
    visible.splice(last, 1);
    // A dropped column makes room, so the shrunk columns start again.
    for (const field of visible) field.width = fields[field.index]?.width ?? 0;
  }
}

/** Shrinks wide fields, the widest first. @returns the remaining excess width */
function shrink(fields: readonly Field[], excess: number): number {
  for (let left = excess; ; left--) {
    const [widest] = fields
      .filter(({ wide, width }) => wide && width > MIN_WIDTH)
      .sort((a, b) => b.width - a.width);
    if (left <= 0 || widest === undefined) return left;
    widest.width -= 1;
  }
}

function totalWidth(fields: readonly Field[]): number {
  return fields.reduce((sum, { width }) => sum + width, GAP * (fields.length - 1));
}

function formatLine(cells: readonly string[], fields: readonly Field[]): string {
  const parts = fields.map(({ index, width }) => padCell(cells[index] ?? '', width));
  return parts.join(' '.repeat(GAP)).trimEnd();
}

function padCell(cell: string, width: number): string {
  const excess = widthOf(cell) - width;
  if (excess <= 0) return cell + ' '.repeat(-excess);
  let cut = '';
  for (const letter of cell) {
    if (widthOf(cut) + widthOf(letter) >= width) break;
    cut += letter;
  }
  return `${cut}…${' '.repeat(Math.max(0, width - widthOf(cut) - 1))}`;
}

/** Measures terminal columns. East Asian wide letters and emoji take two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) width += WIDE.test(letter) ? 2 : MARK.test(letter) ? 0 : 1;
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const MARK = /\p{Mn}|\u200d|\ufe0f/u;
