import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';

/** A spreadsheet takes a text with this beginning for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export const FORMATS = ['json', 'csv'] as const;
/** The format of an answer: a page, or all items as one file. */
export type Format = (typeof FORMATS)[number];

export const FORMAT_DESCRIPTION =
  '`csv` returns all items as one file and ignores `limit` and `cursor`. Accept: text/csv does the ' +
  'same.';

/** Whether a client wants a file: by its query, else by its header Accept. */
export function wantsCsv(format: Format | undefined, accept: string): boolean {
  return (format ?? (accept.includes('text/csv') ? 'csv' : 'json')) === 'csv';
}

/** A file of CSV. @param lines texts of one or more lines, each with its end */
export function csvFile(
  name: string,
  lines: Iterable<string> | AsyncIterable<string>,
): StreamableFile {
  return new StreamableFile(Readable.from(lines), {
    type: 'text/csv; charset=utf-8',
    disposition: `attachment; filename="${name}.csv"`,
  });
}

/**
 * Formats a line of CSV (RFC 4180) with its end. A text that a spreadsheet would take for a formula
 * gets an apostrophe in front.
 */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`;
}

function formatCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return `${value}`;
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
