// Postgres' text cannot hold NUL, and a lone surrogate has no UTF-8 form.
const NUL = '\u0000';

/** Whether Postgres can store the text: no NUL, no lone surrogate. */
export function isStorableText(text: string): boolean {
  return !text.includes(NUL) && text.isWellFormed();
}
