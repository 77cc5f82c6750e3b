import { isUuid } from '../values/ids.js';
import { looksSecret, looksSecretInText } from './secret-names.js';

const HIDDEN = '[redacted]';
const MAX_DEPTH = 8;

/** Fields that can hold secrets under any name. Compared without case, dashes and underscores. */
const DOCUMENTS = new Set(['inputcontext', 'checkpointdata', 'outputresult', 'secrets']);

interface SecretFormat {
  find: RegExp;
  shown: string;
  /** Matches each text that `find` matches, at a fraction of its cost. */
  sign: RegExp;
}

/** Keys in unmistakable formats: JSON web tokens, Drover's API keys, keys of common services. */
const KEYS: readonly SecretFormat[] = [
  // The rest is examined once for each word, not for each dash.
  {
    find: /(?<![\w-])(?=[\w-]{11,}\.[\w-]+\.)((?:[\w-]*?-)??)eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
    shown: `$1${HIDDEN}`,
    sign: /eyJ/,
  },
  { find: /\bdrv_[0-9a-f]{8}_[0-9a-f]{48}\b/g, shown: HIDDEN, sign: /drv_/ },
  {
    find: /\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,})/g,
    shown: HIDDEN,
    sign: /gh[pousr]_|github_pat_|glpat-|xox/,
  },
  // Source code has names such as `sk-toggleable__content`. The bounds keep the search short.
  {
    find: /\bsk-(?:(?=[\w-]{0,64}\d)(?=[\w-]{0,64}[a-z])(?=[\w-]{0,64}[A-Z])[\w-]{16,}|(?:[\w-]{0,16}-)?[\da-f]{32,})/g,
    shown: HIDDEN,
    sign: /sk-/,
  },
  {
    find: /\b(?:A[KS]IA[0-9A-Z]{12,}|AIza[\w-]{30,}|npm_\w{30,})/g,
    shown: HIDDEN,
    sign: /A[KS]IA|AIza|npm_/,
  },
  {
    find: /\b(?:[rs]k_(?:live|test)_\w{10,}|whsec_[\w+/=]{16,}|ya29\.[\w-]{20,})/g,
    shown: HIDDEN,
    sign: /[rs]k_(?:live|test)_|whsec_|ya29/,
  },
];

/** Secrets inside texts: keys, bearer tokens, passwords in URLs and credentials in headers. */
const SECRET_TEXTS: readonly SecretFormat[] = [
  {
    find: /\b(bearer\s+)[\w.~+/=-]+/gi,
    shown: `$1${HIDDEN}`,
    sign: /[Bb][Ee][Aa][Rr][Ee][Rr]\s/,
  },
  { find: /(:\/\/[^\s:/@]*:)[^\s/@]+@/g, shown: `$1${HIDDEN}@`, sign: /:/ },
  ...KEYS,
  // Half a key, too. Files would lose names of functions and classes.
  { find: /\b(?:drv_[\w-]{8,}|sk-[\w-]{16,})/g, shown: HIDDEN, sign: /drv_|sk-/ },
  {
    find: /(authorization["']?\s*[:=]\s*["']?(?:basic|token|digest|apikey|negotiate) +)(?!\[redacted])[\w+/=.-]{4,}/gi,
    shown: `$1${HIDDEN}`,
    sign: /[:=]/,
  },
  {
    find: /\b([Bb]asic +)(?=[A-Za-z]*[\d+/=]|(?:[A-Za-z]*?[a-z][A-Z]){2})[\w+/-]{8,}={0,2}/g,
    shown: `$1${HIDDEN}`,
    sign: /[Bb]asic /,
  },
];

/** A name with the characters between it and its value. */
const NAMED = /(?<![\w-])([\w-]{1,100})["']?\s*[=:]\s*["']?/g;
const VALUE = /(?!\[redacted])[^\s"',;&)}\]]{4,}/y;

/** An assignment, or the sign of any format. Most texts have neither. */
const SIGN = new RegExp(['[=:]', ...SECRET_TEXTS.map(({ sign }) => sign.source)].join('|'));

/** The text with `[redacted]` in place of each part that looks like a secret. */
export function redactText(text: string): string {
  return maySeemSecret(text) ? redactAnyText(text) : text;
}

/** False only if `redactAnyText` does not change the text. */
export function maySeemSecret(text: string): boolean {
  return SIGN.test(text);
}

/** `redactText` by all patterns. */
export function redactAnyText(text: string): string {
  return hideAll(SECRET_TEXTS, hideAssigned(text));
}

/**
 * Hides keys in unmistakable formats, and nothing else. It is for files: `redactText` would change
 * source code such as `password: string`.
 */
export function hideKeys(text: string): string {
  return hideAll(KEYS, text);
}

function hideAll(formats: readonly SecretFormat[], text: string): string {
  return formats.reduce((result, { find, shown }) => result.replace(find, shown), text);
}

/** Hides values that are assigned to secret names: `DB_PASS=…`, `"apiKey": "…"`. */
function hideAssigned(text: string): string {
  let shown = '';
  let from = 0;
  for (const { 0: start, 1: name = '', index } of text.matchAll(NAMED)) {
    if (index < from || !looksSecretInText(name)) continue;
    VALUE.lastIndex = index + start.length;
    if (!VALUE.test(text)) continue;
    shown += `${text.slice(from, index + start.length)}${HIDDEN}`;
    from = VALUE.lastIndex;
  }
  return from === 0 ? text : shown + text.slice(from);
}

/**
 * A copy for a log. Values of secret names are hidden, and so are secrets inside texts. Below eight
 * levels it stops and says so.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return value;
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (value instanceof Date) return value;
  if (Buffer.isBuffer(value)) return `[${value.length} bytes]`;
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return redactEntries(Object.entries(value), depth);
}

function redactEntries(entries: [string, unknown][], depth: number): Record<string, unknown> {
  return Object.fromEntries(
    entries.map(([name, child]) => [
      name,
      isSecret(name, child) ? HIDDEN : redact(child, depth + 1),
    ]),
  );
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  return {
    type: error.name,
    message: redactText(error.message),
    stack: redactText(error.stack ?? ''),
    ...redactEntries(Object.entries(error), depth),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  };
}

function isSecret(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (DOCUMENTS.has(name.toLowerCase().replaceAll(/[-_]/g, ''))) return true;
  // A reader of the line needs the key's id in `apiKeyId`.
  if (/I[dD]$/.test(name) && isUuid(value)) return false;
  return !saysNothing(name, value) && looksSecret(name);
}

/** Whether a value cannot be a secret: a flag, or a number where tokens are counted. */
export function saysNothing(name: string, value: unknown): boolean {
  if (value === null || typeof value === 'boolean') return true;
  return typeof value === 'number' && /(?:tokens|pass)$/i.test(name);
}
