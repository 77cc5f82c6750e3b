import { dictionary } from '@zxcvbn-ts/language-common';

/** Ordered by how often leaked lists have them. */
const COMMON: ReadonlySet<string> = new Set(dictionary['passwords-common'].slice(0, 10_000));

/**
 * True if a password is one of the 10,000 commonest: as it is, in another case, repeated, or filled
 * up to the minimum length with at most as many digits and signs.
 */
export function isCommonPassword(password: string): boolean {
  const lower = password.toLowerCase();
  const word = /[a-z](?:.*[a-z])?/s.exec(lower)?.[0] ?? '';
  const isFilledUp = word.length * 2 >= lower.length;
  return [lower, unitOf(lower), ...(isFilledUp ? [word, unitOf(word)] : [])].some((text) =>
    COMMON.has(text),
  );
}

/** `abcabc` gives `abc`. */
function unitOf(text: string): string {
  const length = (text + text).indexOf(text, 1);
  return text.slice(0, length);
}
