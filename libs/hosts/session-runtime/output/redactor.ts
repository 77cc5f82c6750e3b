import {
  hideKeys,
  looksSecret,
  patternOf,
  redactText,
  saysNothing,
  type SecretPattern,
  secretPatternsOf,
} from '#lib/kernel';

const HIDDEN = '[redacted]';
/** Shorter values would hide half of every line and protect nothing. */
const MIN_SECRET_LENGTH = 4;
const MAX_SECRETS = 500;
const NOT_SECRET = new Set(['true', 'false', 'null', 'none', 'undefined']);

const KEY_BEGINS = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const KEY_ENDS = /-----END [A-Z ]*PRIVATE KEY-----/;

/** Hides secrets in text: given values, and everything that looks like a credential. */
export class Redactor {
  private readonly secrets: string[] = [];
  private values: RegExp | undefined;

  constructor(secrets: Iterable<string>) {
    this.add(secrets);
  }

  /** Hides further values in all later texts. */
  add(secrets: Iterable<string>): void {
    this.secrets.push(...secrets);
    this.values = patternOf(this.secrets.flatMap(variantsOf), MAX_SECRETS);
  }

  redact(text: string): string {
    return redactText(this.hideValues(text));
  }

  /**
   * For a file: hides the given values and keys in unmistakable formats. Text that only looks like a
   * credential stays, because source code is full of it.
   */
  redactFile(text: string): string {
    return hideKeys(this.hideValues(text));
  }

  private hideValues(text: string): string {
    return this.values === undefined ? text : text.replace(this.values, HIDDEN);
  }

  /**
   * For a stream of lines: it also hides private keys, which take several lines. It must see every
   * line. It returns a function that makes the line readable, later or never.
   */
  forLines(): (line: string) => (text: string) => string {
    let withinKey = false;
    return (line) => {
      const hidden = withinKey || KEY_BEGINS.test(line);
      if (hidden) withinKey = !KEY_ENDS.test(line);
      return hidden ? () => HIDDEN : (text) => this.redact(text);
    };
  }
}

/** The values of a JSON value whose names call them secret, and passwords in URLs. */
export function secretsIn(value: unknown): string[] {
  const found: string[] = [];
  collect(value, false, found);
  return found;
}

function collect(value: unknown, secret: boolean, found: string[]): void {
  if (typeof value === 'string') {
    if (secret) found.push(value);
    for (const match of value.matchAll(/\/\/[^\s:/?#@]*:([^\s@/]+)@/g)) found.push(match[1] ?? '');
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, secret, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      collect(item, secret || (looksSecret(name) && !saysNothing(name, item)), found);
    }
  }
}

/** A secret as it is, as URLs, headers and JSON encode it, and its single lines. */
function variantsOf(secret: string): SecretPattern[] {
  const base64 = Buffer.from(secret.toWellFormed()).toString('base64');
  const lines = secret.split(/\r?\n/);
  return [
    ...secretPatternsOf(secret.trim(), 0),
    ...[encodeURIComponent(secret.toWellFormed()), base64, inJson(secret)].flatMap((text) =>
      secretPatternsOf(text, 1),
    ),
    ...(lines.length > 1 ? lines.flatMap((line) => secretPatternsOf(line.trim(), 2)) : []),
  ].filter(([text]) => text.length >= MIN_SECRET_LENGTH && !NOT_SECRET.has(text.toLowerCase()));
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
