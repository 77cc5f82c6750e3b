import { isUtf8 } from 'node:buffer';
import { DroverError } from '#lib/kernel';
import { findUnsafe, MAX_JSON_DEPTH } from './unsafe-json.js';

/**
 * Parses a request's JSON: UTF-8 only, no body is `{}`, nothing that could not be stored or that
 * would act as a prototype on somebody's merge.
 *
 * @param maxDepth levels of arrays and objects that it may nest
 * @throws DroverError `malformed_json`, or `validation_failed` that names the place
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
 * Whether the value has to be walked through; for nearly every body a look at its text says no.
 * Without an escape there is no NUL, no lone surrogate (UTF-8 has no form for one) and no key whose
 * name is hidden; a number out of range has an exponent or some 300 digits.
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
    // `[` and `{`; those inside of strings count too, which only makes us look twice.
    if ((code === 0x5b || code === 0x7b) && ++opened > maxDepth) return true;
  }
  return false;
}
