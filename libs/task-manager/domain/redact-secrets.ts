import { redactText } from '#lib/kernel';

/** What is shown in the place of a secret. */
export const REDACTED = '[redacted]';

/** A name that ends in one of these names a secret: `password`, `githubToken`, `CLIENT_SECRET`. */
const SECRET_ENDINGS = new Set([
  'password',
  'passwords',
  'passwd',
  'passphrase',
  'pwd',
  'secret',
  'secrets',
  'token',
  'tokens',
  'credential',
  'credentials',
  'authorization',
  'auth',
  'cookie',
  'cookies',
  'jwt',
  'apikey',
  'apikeys',
  'privatekey',
  'secretkey',
  'accesskey',
]);

/** `key` alone names many things; after one of these words it names a secret. */
const SECRET_KEYS = new Set([
  'api',
  'private',
  'secret',
  'access',
  'signing',
  'encryption',
  'ssh',
  'master',
  'service',
  'account',
  'shared',
]);

/** What may follow a secret's name without making it harmless: `passwordHash`, `tokenValue`. */
const STILL_SECRET = new Set(['hash', 'value', 'text', 'base64', 'b64', 'pem', 'header', 'id']);

/**
 * Whether the name of a field, variable or option says that its value is a secret. Reads it word by
 * word, so that `maxTokensPerRun`, `tokenCount` or `secretName` are none.
 */
export function looksSecret(name: string): boolean {
  const words = wordsOf(name);
  while (words.length > 1 && STILL_SECRET.has(words.at(-1) ?? '')) {
    // An id is harmless after most words (`tokenId`), but `access key id` belongs to the secret.
    if (words.at(-1) === 'id' && words.at(-2) !== 'key') return false;
    words.pop();
  }
  const last = words.at(-1) ?? '';
  if (last === 'key' || last === 'keys') return SECRET_KEYS.has(words.at(-2) ?? '');
  return SECRET_ENDINGS.has(last);
}

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}

/**
 * A copy of a JSON value for people: secrets are replaced, at every depth.
 *
 * Hidden are the values of fields with a secret's name, of `{name: 'API_KEY', value: …}` pairs, of
 * `API_KEY=…` and `--api-key …` in argument lists, and what looks like a token inside of any text.
 * Numbers stay under a name that ends in `tokens`, for there they count; so do null, true and false.
 */
export function redactSecrets(value: unknown): unknown {
  if (typeof value === 'string') return redactLine(value);
  if (Array.isArray(value)) return redactList(value);
  if (value === null || typeof value !== 'object') return value;
  return redactObject(value as Record<string, unknown>);
}

function redactObject(object: Record<string, unknown>): Record<string, unknown> {
  const pairName = object['name'] ?? object['key'];
  const isSecretPair = typeof pairName === 'string' && looksSecret(pairName);
  return Object.fromEntries(
    Object.entries(object).map(([name, child]) => {
      const hidden = looksSecret(name) || (isSecretPair && name === 'value');
      return [name, hidden ? hide(name, child) : redactSecrets(child)];
    }),
  );
}

function hide(name: string, value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && /tokens$/i.test(name)) return value;
  return REDACTED;
}

function redactList(list: readonly unknown[]): unknown[] {
  return list.map((item, index) => {
    const before = list[index - 1];
    const option = typeof before === 'string' ? /^--?([\w-]+)$/.exec(before)?.[1] : undefined;
    const isArgument = typeof item === 'string' && !item.startsWith('-');
    return isArgument && option && looksSecret(option) ? REDACTED : redactSecrets(item);
  });
}

const ASSIGNMENT = /^(-{0,2}([A-Za-z][\w.-]*)\s*[=:]\s*)\S/;

function redactLine(text: string): string {
  const assignment = ASSIGNMENT.exec(text);
  const [, prefix, name] = assignment ?? [];
  if (prefix && name && looksSecret(name)) return `${prefix}${REDACTED}`;
  return redactText(text);
}
