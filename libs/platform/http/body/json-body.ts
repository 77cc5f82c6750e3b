import { isUtf8 } from 'node:buffer';
import { DroverError } from '#lib/kernel';
import { findUnsafe, MAX_JSON_DEPTH } from './unsafe-json.js';

/**
 * Parses a request's JSON. Accepts UTF-8 only; no body means `{}`. Refuses values that cannot be
 * stored or that would act as a prototype in a merge.
 *
 * @param maxDepth maximum nesting of arrays and objects
 * @throws DroverError `malformed_json`, or `validation_failed` with the field's path
 */
export function parseJsonBody(body: Buffer, maxDepth = MAX_JSON_DEPTH): unknown {
  if (body.length === 0) return {};
  if (!isUtf8(body)) throw new DroverError('malformed_json', { detail: 'The body is not UTF-8.' });
  const text = body.toString('utf8');
  const value = parse(text);
  if (isSuspicious(text, maxDepth)) {
    const unsafe = findUnsafe(value, maxDepth);
    if (unsafe) throw new DroverError('validation_failed', { errors: [unsafe] });
  }
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DroverError('malformed_json', { detail: (error as Error).message });
  }
}

/**
 * Whether the value must be walked through. A look at the text suffices for nearly every body:
 * without an escape there is no NUL, no lone surrogate (UTF-8 has no form for one) and no hidden
 * key. A number out of range has an exponent or about 300 digits.
 */
function isSuspicious(text: string, maxDepth: number): boolean {
  return (
    text.includes('\\u') ||
    text.includes('__proto__') ||
    text.includes('"constructor"') ||
    /\d[eE]/.test(text) ||
    isDeepOrHasLongNumber(text, maxDepth)
  );
}

const LONG_NUMBER = 300;

function isDeepOrHasLongNumber(text: string, maxDepth: number): boolean {
  let opened = 0;
  let digits = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    digits = code >= 0x30 && code <= 0x39 ? digits + 1 : 0;
    if (digits > LONG_NUMBER) return true;
    // `[` and `{`. Those inside strings count, too, which only causes a second look.
    if ((code === 0x5b || code === 0x7b) && ++opened > maxDepth) return true;
  }
  return false;
}
