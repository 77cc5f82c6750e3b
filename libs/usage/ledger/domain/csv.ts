/** A spreadsheet takes a text with this beginning for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

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
