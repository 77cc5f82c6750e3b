const HIDDEN = '[redacted]';
const MAX_DEPTH = 8;

/** Names whose values are secrets, or may hold some; compared without case, dashes and underscores. */
const SECRET_NAMES = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'password',
  'passwordhash',
  'currentpassword',
  'newpassword',
  'secret',
  'clientsecret',
  'jwtsecret',
  'token',
  'accesstoken',
  'refreshtoken',
  'runtoken',
  'agenttoken',
  'idtoken',
  'apikey',
  'xapikey',
  'privatekey',
  'inputcontext',
  'checkpointdata',
  'outputresult',
]);

/**
 * Secrets inside of texts: bearer tokens, JSON web tokens, our API keys, passwords in URLs, assignments
 * to names that mean a secret, and the key formats of widely used services.
 */
const SECRET_TEXTS: readonly [RegExp, string][] = [
  [/\b(bearer\s+)[\w.~+/=-]+/gi, `$1${HIDDEN}`],
  // The rest is examined once for each word, not for each dash in it.
  [
    /(?<![\w-])(?=[\w-]{11,}\.[\w-]+\.)((?:[\w-]*?-)??)eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
    `$1${HIDDEN}`,
  ],
  [/\bdrv_[\w-]{8,}/g, HIDDEN],
  [/(:\/\/[^\s:/@]*:)[^\s/@]+@/g, `$1${HIDDEN}@`],
  [
    /\b((?:\w*[_-])?(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)["']?\s*[=:]\s*["']?)(?!\[redacted])[^\s"',;&)}\]]{4,}/gi,
    `$1${HIDDEN}`,
  ],
  [/\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})/g, HIDDEN],
  [/\b(?:sk-[\w-]{16,}|AKIA[0-9A-Z]{12,}|AIza[\w-]{30,}|npm_\w{30,})/g, HIDDEN],
];

export function redactText(text: string): string {
  return SECRET_TEXTS.reduce((result, [secret, shown]) => result.replace(secret, shown), text);
}

/**
 * A copy that is fit for a log: the values of secret names are hidden, secrets inside of texts too.
 * Deeper than eight levels it says so instead of going on.
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
    entries.map(([name, child]) => [name, isSecret(name) ? HIDDEN : redact(child, depth + 1)]),
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

function isSecret(name: string): boolean {
  return SECRET_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
}
