import { stripVTControlCharacters } from 'node:util';

/** Other control characters than the tab, DEL included. */
const CONTROLS = /[^\P{Cc}\t]/gu;

/**
 * A line as a terminal would leave it: without colours and cursor movements, and where a carriage
 * return overwrites it (progress bars do), only what was written last.
 */
export function cleanText(line: string): string {
  const plain = stripVTControlCharacters(line);
  const visible = plain.slice(plain.lastIndexOf('\r') + 1);
  return visible.replace(CONTROLS, '').toWellFormed();
}

/** Cuts a text to a length, saying how much is missing. */
export function shorten(text: string, maxLength: number, alsoDropped = 0): string {
  if (text.length <= maxLength && alsoDropped === 0) return text;
  const kept = text.slice(0, maxLength).toWellFormed();
  return `${kept} [${text.length - kept.length + alsoDropped} more characters]`;
}
