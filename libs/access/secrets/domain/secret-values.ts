import { type SecretPattern, secretPatternsOf, patternOf, redactText } from '#lib/kernel';
import { mapSecrets, REDACTED } from './secret-walk.js';

/** Shorter values would hide parts of innocent words, and are easily guessed anyway. */
export const MIN_SECRET_LENGTH = 6;
/** Above this limit whole secrets have priority over lines and pieces of long ones. */
const MAX_VALUES = 2_000;
const NOT_SECRET = new Set(['undefined']);

/** A secret with its public form: for a text that contains a secret, the rest. */
export type Secret = readonly [value: unknown, shown: string];

/** The secret values of one task, to be found wherever they appear. */
export class SecretValues {
  static readonly NONE = new SecretValues([]);

  private readonly pattern: RegExp | undefined;

  private constructor(private readonly patterns: readonly SecretPattern[]) {
    this.pattern = patternOf(patterns, MAX_VALUES);
  }

  static of(secrets: readonly Secret[]): SecretValues {
    const patterns = secrets.flatMap(([value, shown]) => valuesOf(value, shown));
    return patterns.length === 0 ? SecretValues.NONE : new SecretValues(patterns);
  }

  /** Texts that are secrets as a whole. */
  static ofTexts(texts: readonly string[]): SecretValues {
    return SecretValues.of(texts.map((text) => [text, REDACTED]));
  }

  /** Values that JSON documents mark as secrets. */
  static in(...documents: unknown[]): SecretValues {
    return SecretValues.of(secretsIn(documents));
  }

  and(others: SecretValues): SecretValues {
    if (others.isEmpty) return this;
    if (this.isEmpty) return others;
    return new SecretValues([...this.patterns, ...others.patterns]);
  }

  /** Approximate memory, in characters. */
  get size(): number {
    return this.patterns.reduce((sum, [text]) => sum + text.length, 0);
  }

  get isEmpty(): boolean {
    return this.patterns.length === 0;
  }

  /** The text without the values. Nothing else is examined. */
  hide(text: string): string {
    return this.pattern === undefined ? text : text.replace(this.pattern, REDACTED);
  }

  /** The text without the values and without anything that looks like a secret. */
  redact(text: string): string {
    // The values first, because a pattern can take a part of one and leave the rest.
    return redactText(this.hide(text));
  }
}

/** The secrets that `mapSecrets` recognises in a JSON value. */
export function secretsIn(value: unknown): Secret[] {
  const found: Secret[] = [];
  mapSecrets(value, (secret, shown) => {
    found.push([secret, shown]);
    return secret;
  });
  return found;
}

/** The secrets of a sentence, as `mapSentence` recognises them. */
export function secretsInSentence(text: string): Secret[] {
  const shown = redactText(text);
  return shown === text ? [] : [[text, shown]];
}

/** Whether a JSON value is long enough anywhere to contain a secret value. */
export function hasRoomForSecret(value: unknown): boolean {
  if (typeof value === 'string') return value.length >= MIN_SECRET_LENGTH;
  if (typeof value === 'number') return String(value).length >= MIN_SECRET_LENGTH;
  if (Array.isArray(value)) return value.some(hasRoomForSecret);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, child]) => name.length >= MIN_SECRET_LENGTH || hasRoomForSecret(child),
  );
}

function valuesOf(secret: unknown, shown: string): SecretPattern[] {
  if (typeof secret === 'number') return variantsOf(String(secret));
  if (typeof secret === 'string') return textValues(secret, shown);
  if (typeof secret !== 'object' || secret === null) return [];
  return Object.values(secret).flatMap((child) => valuesOf(child, REDACTED));
}

function textValues(secret: string, shown: string): SecretPattern[] {
  const parts = shown === REDACTED ? [secret] : credentialsIn(secret, shown);
  // A secret can contain another that appears by itself: a URL its password, `Basic …` its
  // credentials.
  const inner = parts.flatMap((part) => [
    ...secretsIn(part).flatMap(([, rest]) => (rest === REDACTED ? [] : credentialsIn(part, rest))),
    part.replace(/^(?:basic|bearer|digest|token)\s+/i, ''),
  ]);
  return [...parts, ...inner].flatMap(variantsOf);
}

/**
 * The parts of a text that are almost certainly secrets. `password: required` is hidden where it
 * stands, but the word must not disappear from every log of the task.
 */
function credentialsIn(text: string, shown: string): string[] {
  const isOneWord = !/\s/.test(text);
  const passwords = [...text.matchAll(/:\/\/[^\s:/@]*:([^\s/@]+)@/g)].map(([, word = '']) => word);
  const parts = hiddenParts(text, shown).filter((part) => isOneWord || /\d/.test(part));
  return [...passwords, ...parts];
}

/** The parts of a text that `[redacted]` replaces in its public form. */
function hiddenParts(text: string, shown: string): string[] {
  const [first = '', ...rest] = shown.split(REDACTED);
  if (!text.startsWith(first)) return [text];
  const parts: string[] = [];
  let from = first.length;
  for (const [index, literal] of rest.entries()) {
    const isLast = index === rest.length - 1;
    const end = isLast ? text.length - literal.length : text.indexOf(literal, from);
    if (end < from || !text.startsWith(literal, end)) return [text];
    parts.push(text.slice(from, end));
    from = end + literal.length;
  }
  return parts;
}

/** A secret in its forms in URLs, headers and JSON, and its lines likewise. */
function variantsOf(secret: string): SecretPattern[] {
  const whole = secret.trim();
  const lines = whole.split(/\r?\n/);
  return [
    ...formsOf(whole, 0),
    ...(lines.length > 1 ? lines.flatMap((line) => formsOf(line.trim(), 2)) : []),
  ];
}

function formsOf(text: string, rank: number): SecretPattern[] {
  if (!isLongEnough(text)) return [];
  const bytes = Buffer.from(text.toWellFormed());
  const encoded = [
    encodeURIComponent(text.toWellFormed()),
    JSON.stringify(text).slice(1, -1),
    bytes.toString('base64').replaceAll('=', ''),
    bytes.toString('base64url'),
  ];
  const patterns = [
    ...secretPatternsOf(text, rank),
    ...encoded.flatMap((form) => secretPatternsOf(form, rank + 1)),
  ];
  return patterns.filter(([pattern]) => isLongEnough(pattern));
}

function isLongEnough(text: string): boolean {
  return text.length >= MIN_SECRET_LENGTH && !REDACTED.includes(text) && !NOT_SECRET.has(text);
}
