import { stripVTControlCharacters } from 'node:util';

/** Control characters except the tab; DEL is one of them. */
const CONTROLS = /[^\P{Cc}\t]/gu;

/**
 * The line as a terminal shows it: without colours and cursor movements. If carriage returns
 * overwrite it (progress bars do), only the last text is left.
 */
export function cleanText(line: string): string {
  const plain = stripVTControlCharacters(line);
  const visible = plain.slice(plain.lastIndexOf('\r') + 1);
  return visible.replace(CONTROLS, '').toWellFormed();
}

// oxlint-disable-next-line no-control-regex
const COLOURS = /(\u001b\[[0-9;]*m)/;

/** The same with the codes of colours, for readers that draw them. The line has no returns. */
export function cleanColouredText(line: string): string {
  const parts = line.split(COLOURS);
  return parts.map((part, index) => (index % 2 === 1 ? part : cleanText(part))).join('');
}

/**
 * The first characters of a text, copied: a slice of a string keeps the whole string in memory.
 * Half a character becomes the replacement character.
 */
export function copyStart(text: string, maxLength: number): string {
  return Buffer.from(text.slice(0, maxLength)).toString();
}

/**
 * Cuts a text to a length and adds the number of missing characters. The cut part does not stay in
 * memory.
 */
export function shorten(text: string, maxLength: number, alsoDropped = 0): string {
  if (text.length <= maxLength && alsoDropped === 0) return text;
  const kept = copyStart(text, maxLength);
  return `${kept} [${text.length - kept.length + alsoDropped} more characters]`;
}
