import { DroverError } from '#lib/kernel';
import { keepHidden, REDACTED, redactSecrets } from '#lib/secrets/domain';

/** The name of Drover's own server, which every session has. */
const OWN_NAME = 'drover';
/** The maximum of all servers of a project as JSON, in bytes. */
const MAX_BYTES = 100_000;

/**
 * A server of tools for the coding agents of a project: a program with `command`, or an address with
 * `url`. The values of `env` and `headers` are secrets.
 */
export interface McpServerSetting {
  name: string;
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  url?: string;
  headers?: Record<string, string>;
}

/**
 * The servers with all fields of their form.
 *
 * @throws DroverError `validation_failed`
 */
export function readServers(given: readonly McpServerSetting[]): McpServerSetting[] {
  const names = given.map(({ name }) => name);
  const errors = given.flatMap((server, index) => {
    const isRepeated = names.indexOf(server.name) !== index;
    const found = isRepeated ? (['name', 'must be unique'] as const) : whyInvalid(server);
    return found ? [{ field: `mcpServers[${index}].${found[0]}`, message: found[1] }] : [];
  });
  if (Buffer.byteLength(JSON.stringify(given)) > MAX_BYTES) {
    errors.push({ field: 'mcpServers', message: `must be at most ${MAX_BYTES} bytes as JSON` });
  }
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
  return given.map(toWhole);
}

/**
 * Puts the stored values in place of each "[redacted]" that a client sends back. A hidden value stays
 * with its program or address: at another one, somebody could read it.
 *
 * @param current the stored servers with their secrets
 * @param shown the same as the client was shown them
 * @throws DroverError `validation_failed` if a "[redacted]" hides nothing
 */
export function withHidden(
  given: readonly McpServerSetting[],
  current: readonly McpServerSetting[],
  shown: readonly McpServerSetting[],
): McpServerSetting[] {
  const restored = given.map((server) => {
    const index = shown.findIndex((known) => isSame(known, server));
    return keepHidden(server, current[index], shown[index]) as McpServerSetting;
  });
  const message = 'must be the value itself: "[redacted]" hides none of this server';
  const errors = restored.flatMap(({ env, headers }, index) =>
    Object.entries({ env, headers }).flatMap(([part, values = {}]) =>
      Object.keys(values)
        .filter((name) => values[name] === REDACTED)
        .map((name) => ({ field: `mcpServers[${index}].${part}.${name}`, message })),
    ),
  );
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
  return restored;
}

function isSame(one: McpServerSetting, other: McpServerSetting): boolean {
  const of = ({ name, command, args, url }: McpServerSetting) =>
    JSON.stringify([name, command, args, url]);
  return of(one) === of(other);
}

function toWhole({ name, command, args = [], env = {}, url, headers = {} }: McpServerSetting) {
  return url === undefined ? { name, command, args, env } : { name, url, headers };
}

type Refusal = readonly [field: string, message: string];

function whyInvalid(server: McpServerSetting): Refusal | undefined {
  const { name, command, args, env, url, headers } = server;
  if (name === OWN_NAME) return ['name', 'must not be that of the server of Drover'];
  if ((command === undefined) === (url === undefined)) {
    return ['command', 'must be there, or url instead of it'];
  }
  if (url === undefined) {
    if (headers !== undefined) return ['headers', 'must be absent beside command'];
    const hidden = { command, args: args ?? [] };
    if (redactSecrets(hidden) === hidden) return undefined;
    return ['args', 'must contain no secret: pass it to the program by env'];
  }
  if (args !== undefined) return ['args', 'must be absent beside url'];
  if (env !== undefined) return ['env', 'must be absent beside url'];
  return whyNoUrl(url);
}

function whyNoUrl(url: string): Refusal | undefined {
  const read = URL.canParse(url) ? new URL(url) : undefined;
  if (read === undefined || !['http:', 'https:'].includes(read.protocol)) {
    return ['url', 'must be an address that begins with http:// or https://'];
  }
  const hasSecret = read.username !== '' || read.password !== '' || redactSecrets(url) !== url;
  if (hasSecret) return ['url', 'must contain no secret: send it by headers'];
  return read.hash === '' ? undefined : ['url', 'must have no part after #'];
}
