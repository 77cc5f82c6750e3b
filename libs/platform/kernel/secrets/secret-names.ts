/*
 * Whether the name of a field, variable or option indicates a secret value. A name is read word by
 * word: `tokenCount`, `keyboard` and `primaryKey` do not.
 */

/**
 * A word with one of these endings indicates a secret anywhere in a name: `dbpassword`,
 * `GITHUB_TOKEN_ACME`.
 */
const SECRET_WORD =
  /(?:passwords?|passwd|passphrase|passcode|secrets?|token|credentials?|apikeys?|privatekey|privkey|secretkey|accesskey|authkey|signingkey|encryptionkey|masterkey)$/;

/** The same for whole words, and names of files that hold credentials. */
const SECRET_WORDS = wordSet(`
  pgpass kubeconfig mnemonic mnemonics netrc npmrc pypirc htpasswd dockercfg dockerconfigjson creds pswd psk otp
  totp hotp passkey passkeys`);

/** Words that indicate a secret only at the end of a name: `basicAuth`, not `authUrl`. */
const SECRET_ENDINGS = wordSet(`
  tokens auth authorization bearer cookie cookies jwt dsn pwd pw csrf xsrf cvv cvc puk pepper pfx`);

/** `pin` also names a contact of a board, a sign on a map or a fixed message. */
const HARMLESS_PINS = wordSet(`
  gpio input output in out map push drop data clock led analog digital is has can should un board cs tx rx sda
  scl reset`);

/** `code` and `phrase` name many things. After one of these words they name a secret. */
const SECRET_CODES = wordSet(`
  recovery backup verification unlock pin otp auth mfa totp 2fa time seed secret security`);

const CODES = new Set(['code', 'codes', 'phrase']);

/** Names of private keys of SSH. */
const KEY_FILE = /(?:^|[^a-z\d])id[_-](?:rsa|dsa|ecdsa|ed25519)(?:[_-]sk)?$/i;

/** After one of these words, `tokens` are counted. */
const COUNTING = wordSet(`
  max min total prompt completion input output reasoning cached num used remaining context generated estimated
  average avg of all new`);

/** `key` alone names many things. After one of these words it names a secret. */
const SECRET_KEYS = wordSet(`
  api private secret access signing encryption decryption ssh gpg pgp master service account shared auth jwt
  hmac webhook deploy admin root ssl tls rsa cipher crypto wireguard subscription license openai ai anthropic
  claude gemini google azure aws gcp mistral cohere groq deepseek openrouter huggingface replicate pinecone
  github gitlab slack discord telegram stripe paypal twilio sendgrid mailgun datadog sentry cloudflare heroku
  vercel netlify supabase firebase algolia`);

/** Variables are named after their content: `ACME_KEY` is a secret unless it is one of these. */
const HARMLESS_KEYS = wordSet(`
  public primary foreign partition sort cache idempotency dedup row session object unique candidate composite
  index group routing sharding shard hot arrow enter escape tab issue project translation i18n message event map
  lookup natural redis queue lock any`);

/**
 * `pass` is also a verb. It means a password only alone, in a variable, or after one of these
 * words.
 */
const OWNERS = wordSet(`
  db database user smtp imap mail email mysql mariadb postgres pg mongo redis ftp sftp ssh http proxy admin root
  login account auth basic vpn wifi ldap sudo key keystore truststore rabbitmq github gitlab`);
const VERB_ENDINGS = new Set(['pass', 'pat']);

/**
 * Endings that do not change the meaning of a name: `password2`, `tokenHash`, `SECRET_KEY_BASE`,
 * `API_KEY_PROD`.
 */
const SUFFIXES = wordSet(`
  hash value text base64 b64 pem header base raw plain string prod production staging stage dev development test
  testing local live sandbox ci qa old new current previous prev next backup default primary secondary main rw
  ro eu us env var encrypted v pkcs der jwk`);

/**
 * Endings of names that describe a secret without being one: `secretName`, `passwordResetUrl`,
 * `tokenCount`.
 */
const HARMLESS_ENDINGS = wordSet(`
  count counts counter id ids name names type types kind format length size limit limits max min budget usage
  used cost price rate run minute second day request requests bucket version policy rule rules strength hint
  field label placeholder form page screen url uri endpoint host path filename dir ref reference store
  provider manager service issuer audience scope scopes algorithm alg expiry expires expiration expired ttl
  lifetime age seconds ms at date time by in on required enabled disabled valid status state reset change
  changed rotation validation validator parser stream index email error errors message prefix suffix schema
  model owner symbol`);

const MAX_KEY_FILE = 30;

/** The same names return often. A client that invents new names must not fill the memory. */
const REMEMBERED = 5_000;
const REMEMBERED_LENGTH = 100;
const remembered = new Map<string, boolean>();

/** Whether a field of this name has a secret value. */
export function looksSecret(name: string): boolean {
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const secret = readName(name);
  if (name.length > REMEMBERED_LENGTH) return secret;
  if (remembered.size >= REMEMBERED) remembered.clear();
  remembered.set(name, secret);
  return secret;
}

/**
 * The same for a name before `=` or `:` in a sentence. Common words there, such as `auth` or
 * `tokens`, prove nothing. After `authorization` comes the scheme.
 */
export function looksSecretInText(name: string): boolean {
  if (!looksSecret(name) || /authorization$/i.test(name)) return false;
  return SECRET_WORD.test(name.toLowerCase()) || wordsOf(name).length > 1;
}

function readName(name: string): boolean {
  // The working directory in the environment of every shell.
  if (name === 'PWD' || name === 'OLDPWD') return false;
  if (KEY_FILE.test(name.slice(-MAX_KEY_FILE))) return true;
  const isVariable = /^[A-Z][A-Z\d]*_[A-Z\d_]+$/.test(name);
  const words = wordsOf(name);
  if (holdsConnection(words)) return true;
  while (words.length > 1 && SUFFIXES.has(words.at(-1) ?? '')) words.pop();
  const last = words.at(-1) ?? '';
  const before = words.at(-2) ?? '';
  // An id is harmless after most words (`tokenId`), but an `access key id` belongs to a secret.
  if (last === 'id' && isSecretKey(before, words.at(-3) ?? '', isVariable)) return true;
  if (isSecretKey(last, before, isVariable)) return true;
  if (VERB_ENDINGS.has(last))
    return before === '' ? last === 'pass' : isVariable || OWNERS.has(before);
  if (last === 'pin') return !HARMLESS_PINS.has(before);
  if (CODES.has(last)) return SECRET_CODES.has(before);
  if (last === 'tokens') return !COUNTING.has(before);
  if (SECRET_ENDINGS.has(last)) return true;
  return !HARMLESS_ENDINGS.has(last) && words.some(isSecretWord);
}

function isSecretWord(word: string): boolean {
  return SECRET_WORDS.has(word) || SECRET_WORD.test(word);
}

function isSecretKey(word: string, before: string, isVariable: boolean): boolean {
  if (word !== 'key' && word !== 'keys') return false;
  return SECRET_KEYS.has(before) || (isVariable && before !== '' && !HARMLESS_KEYS.has(before));
}

/** `connectionString`, `DB_CONN_STR`: they usually contain a password. */
function holdsConnection(words: readonly string[]): boolean {
  return /\b(?:conn|connection) ?(?:string|str|uri)\b|\bconnectionstring\b/.test(words.join(' '));
}

const KEPT_WHOLE = new Set(['base64', 'b64']);

/** In lower case, without trailing numbers. */
function wordsOf(name: string): string[] {
  return name
    .slice(0, 1_000)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .map((word) =>
      /\d/.test(word) && !KEPT_WHOLE.has(word) ? word.replace(/(?<!\d)\d+$/, '') : word,
    )
    .filter((word) => word !== '');
}

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
