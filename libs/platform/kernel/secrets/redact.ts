import { isUuid } from '../values/ids.js';
import { looksSecret, looksSecretInText } from './secret-names.js';

const HIDDEN = '[redacted]';
const MAX_DEPTH = 8;

/** Fields that can hold secrets under any name. Compared without case, dashes and underscores. */
const DOCUMENTS = new Set(['inputcontext', 'checkpointdata', 'outputresult', 'secrets']);

/** Keys in unmistakable formats: JSON web tokens, Drover's API keys, keys of common services. */
const KEYS: readonly [RegExp, string][] = [
  // The rest is examined once for each word, not for each dash.
  [
    /(?<![\w-])(?=[\w-]{11,}\.[\w-]+\.)((?:[\w-]*?-)??)eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
    `$1${HIDDEN}`,
  ],
  [/\bdrv_[0-9a-f]{8}_[0-9a-f]{48}\b/g, HIDDEN],
  [/\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,})/g, HIDDEN],
  // Source code has names such as `sk-toggleable__content`. The bounds keep the search short.
  [
    /\bsk-(?:(?=[\w-]{0,64}\d)(?=[\w-]{0,64}[a-z])(?=[\w-]{0,64}[A-Z])[\w-]{16,}|(?:[\w-]{0,16}-)?[\da-f]{32,})/g,
    HIDDEN,
  ],
  [/\b(?:A[KS]IA[0-9A-Z]{12,}|AIza[\w-]{30,}|npm_\w{30,})/g, HIDDEN],
  [/\b(?:[rs]k_(?:live|test)_\w{10,}|whsec_[\w+/=]{16,}|ya29\.[\w-]{20,})/g, HIDDEN],
];

/** Secrets inside texts: keys, bearer tokens, passwords in URLs and credentials in headers. */
const SECRET_TEXTS: readonly [RegExp, string][] = [
  [/\b(bearer\s+)[\w.~+/=-]+/gi, `$1${HIDDEN}`],
  [/(:\/\/[^\s:/@]*:)[^\s/@]+@/g, `$1${HIDDEN}@`],
  ...KEYS,
  // Half a key, too. Files would lose names of functions and classes.
  [/\b(?:drv_[\w-]{8,}|sk-[\w-]{16,})/g, HIDDEN],
  [
    /(authorization["']?\s*[:=]\s*["']?(?:basic|token|digest|apikey|negotiate) +)(?!\[redacted])[\w+/=.-]{4,}/gi,
    `$1${HIDDEN}`,
  ],
  [
    /\b([Bb]asic +)(?=[A-Za-z]*[\d+/=]|(?:[A-Za-z]*?[a-z][A-Z]){2})[\w+/-]{8,}={0,2}/g,
    `$1${HIDDEN}`,
  ],
];

/** A name with the characters between it and its value. */
const NAMED = /(?<![\w-])([\w-]{1,100})["']?\s*[=:]\s*["']?/g;
const VALUE = /(?!\[redacted])[^\s"',;&)}\]]{4,}/y;

export function redactText(text: string): string {
  const unnamed = hideAssigned(text);
  return SECRET_TEXTS.reduce((result, [secret, shown]) => result.replace(secret, shown), unnamed);
}

/**
 * Hides keys in unmistakable formats, and nothing else. It is for files: `redactText` would change
 * source code such as `password: string`.
 */
export function hideKeys(text: string): string {
  return KEYS.reduce((result, [key, shown]) => result.replace(key, shown), text);
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
