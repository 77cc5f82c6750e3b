import { randomBytes } from 'node:crypto';

/** A secret that the test searches for in every place. */
export interface Mark {
  name: string;
  value: string;
  /** Other encodings of the secret contain one of these. */
  forms: readonly string[];
}

const PREFIX = 'canary-';

/**
 * @param value a new one of the tests unless the server has created it
 */
export function aMark(name: string, value = PREFIX + randomBytes(12).toString('hex')): Mark {
  const bytes = Buffer.from(value);
  const forms = [value, encodeURIComponent(value), bytes.toString('hex'), ...inBase64(bytes)];
  if (value.startsWith(PREFIX)) forms.push(value.slice(PREFIX.length));
  if (value.startsWith('whsec_')) forms.push(...formsOfKey(value.slice('whsec_'.length)));
  return { name, value, forms: [...new Set(forms)] };
}

/** Searches all texts and returns each found mark with its line. */
export function found(marks: readonly Mark[], places: Record<string, string>): string[] {
  return Object.entries(places).flatMap(([place, text]) =>
    text.split('\n').flatMap((line) =>
      marks.flatMap(({ name, forms }) => {
        const at = forms.map((form) => line.indexOf(form)).find((index) => index >= 0);
        if (at === undefined) return [];
        return [`${name} in ${place}: ${line.slice(Math.max(0, at - 300), at + 200)}`];
      }),
    ),
  );
}

/** Returns the base64 forms of the bytes for every offset within a longer text. */
function inBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
    // The adjacent bytes change the characters at both ends.
    const own = text.slice(
      Math.ceil((before * 8) / 6),
      Math.floor(((before + bytes.length) * 8) / 6),
    );
    return [own, own.replaceAll('-', '+').replaceAll('_', '/')];
  });
}

function formsOfKey(key: string): string[] {
  const bytes = Buffer.from(key, 'base64');
  return [key.replaceAll('=', ''), bytes.toString('base64url'), bytes.toString('hex')];
}
