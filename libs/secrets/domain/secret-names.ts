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

/** Endings of a secret's name that do not make it harmless: `passwordHash`, `tokenValue`. */
const STILL_SECRET = new Set(['hash', 'value', 'text', 'base64', 'b64', 'pem', 'header', 'id']);

/** The same names come again and again; a client that makes up ever new ones fills no memory. */
const REMEMBERED = 5_000;
const REMEMBERED_LENGTH = 100;
const remembered = new Map<string, boolean>();

/**
 * Whether the name of a field, variable or option says that its value is a secret. Reads it word by
 * word, so that `maxTokensPerRun`, `tokenCount` or `secretName` are none.
 */
export function looksSecret(name: string): boolean {
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const secret = readName(name);
  if (name.length > REMEMBERED_LENGTH) return secret;
  if (remembered.size >= REMEMBERED) remembered.clear();
  remembered.set(name, secret);
  return secret;
}

function readName(name: string): boolean {
  // The working directory, in the environment of every shell.
  if (name === 'PWD') return false;
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
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}
