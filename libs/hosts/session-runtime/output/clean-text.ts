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

/**
 * The first characters of a text, in memory of their own: a slice of a string holds all of it for as long as
 * it is kept itself. Half a character counts as one that cannot be shown.
 */
export function copyStart(text: string, maxLength: number): string {
  return Buffer.from(text.slice(0, maxLength)).toString();
}

/** Cuts a text to a length, saying how much is missing. Does not hold what was cut off. */
export function shorten(text: string, maxLength: number, alsoDropped = 0): string {
  if (text.length <= maxLength && alsoDropped === 0) return text;
  const kept = copyStart(text, maxLength);
  return `${kept} [${text.length - kept.length + alsoDropped} more characters]`;
}
