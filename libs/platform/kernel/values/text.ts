// Postgres' text cannot hold NUL, and a lone surrogate has no UTF-8 form.
const NUL = '\u0000';

/** Whether Postgres can store the text: no NUL, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes(NUL) && text.isWellFormed();
}

const PLACEHOLDER = /\{\{\s*([^{}\s]{1,500})\s*\}\}/g;

/** The text with each `{{name}}` replaced. Inserted text is not expanded again. */
export function fillPlaceholders(text: string, valueOf: (name: string) => string): string {
  return text.replace(PLACEHOLDER, (_, name: string) => valueOf(name));
}

/** The text with at most `max` characters. A shortened text ends with an ellipsis. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = Array.from(text);
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}
