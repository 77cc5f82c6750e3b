import { field, type FieldOptions } from '#lib/http';
import { whyNoVariable } from '#lib/kernel';

const MAX_SECRETS = 100;
const MAX_LENGTH = 32_768;
/** Limit for all secrets together, in bytes, because claims carry those of 50 tasks. */
const MAX_BYTES = 65_536;

const NAMED_VARIABLES =
  'each named as a variable that programs may be given (not PATH, DROVER_, LD_ and their like)';

/** An object of secrets: names of variables with their values. */
export function Secrets(options: FieldOptions): PropertyDecorator {
  return secretTexts(areSecrets, NAMED_VARIABLES, options);
}

/** An object of secrets: names of HTTP headers with their values. */
export function SecretHeaders(options: FieldOptions): PropertyDecorator {
  return secretTexts(areHeaders, 'each named as an HTTP header, in one line of ASCII', options);
}

function secretTexts(
  holds: (value: unknown) => boolean,
  words: string,
  options: FieldOptions,
): PropertyDecorator {
  const rule = {
    name: 'secrets',
    message: `must be an object of at most ${MAX_SECRETS} texts of at most ${MAX_LENGTH} characters without NUL, ${MAX_BYTES} bytes together, ${words}`,
    holds,
    schema: {
      type: 'object',
      additionalProperties: { type: 'string', maxLength: MAX_LENGTH },
      maxProperties: MAX_SECRETS,
    } as const,
  };
  return field(rule, options);
}

export function areSecrets(value: unknown): value is Record<string, string> {
  return areTexts(value, (name, text) => mayBeNamed(name) && isSecret(text));
}

const HEADER = /^[\w!#$%&'*+.^`|~-]{1,200}$/;
const HEADER_VALUE = /^[\t\x20-\x7E]+$/;

function areHeaders(value: unknown): boolean {
  return areTexts(
    value,
    (name, text) => HEADER.test(name) && isSecret(text) && HEADER_VALUE.test(text),
  );
}

function areTexts(value: unknown, isFit: (name: string, text: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= MAX_SECRETS &&
    entries.every(([name, text]) => isFit(name, text)) &&
    Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES
  );
}

/**
 * Search paths of programs are no secrets, and the creator of a task must not decide them for an
 * agent's command.
 */
const NO_SECRET =
  /^(PATH|HOME|SHELL|TMPDIR|IFS|NODE_PATH|PYTHON(PATH|HOME)|PERL5LIB|RUBYLIB|CLASSPATH|.*JAVA_(TOOL_)?OPTIONS|GIT_(CONFIG.*|EXEC_PATH|ASKPASS))$/;

function mayBeNamed(name: string): boolean {
  return !NO_SECRET.test(name) && whyNoVariable(name) === null;
}

function isSecret(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH && !value.includes('\0')
  );
}
