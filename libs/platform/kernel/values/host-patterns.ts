import { isIP } from 'node:net';

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const NAME = `${LABEL}(?:\\.${LABEL})*`;
const PORT = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])';

/**
 * One allowed host: a name or IPv4 address, `*.` and a name for all names below it, or `*` for all
 * hosts; then a port, or `:*` for all ports. Without a port it means 80 and 443.
 */
export const HOST_PATTERN = new RegExp(`^(?:\\*|(?:\\*\\.)?${NAME})(?::(?:${PORT}|\\*))?$`);
/** A name or IPv4 address, with or without a port. */
export const ONE_HOST = new RegExp(`^${NAME}(?::${PORT})?$`);
/** A name or IPv4 address with its port. */
export const HOST_AND_PORT = new RegExp(`^${NAME}:${PORT}$`);
/** The longest pattern in characters. */
export const MAX_HOST_PATTERN = 261;
/** The maximum number of patterns in one list. */
export const MAX_ALLOWED_HOSTS = 100;
/** Descriptions for error messages. */
export const HOST_RULE =
  'a host in lower case, as in example.com, *.example.com or example.com:8443';
export const HOST_LIST_RULE = `a list of at most ${MAX_ALLOWED_HOSTS} items, each ${HOST_RULE}`;

const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);

export function isHostList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= MAX_ALLOWED_HOSTS && value.every(isHostPattern);
}

function isHostPattern(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_HOST_PATTERN && HOST_PATTERN.test(value);
}

/**
 * The one spelling of a host that patterns are compared with: lower case, ASCII, addresses in their
 * usual notation without brackets, no dot at the end.
 *
 * @returns undefined if it is no host
 */
export function toHost(text: string): string | undefined {
  if (text === '' || /[\s/?#@\\%]/.test(text)) return undefined;
  const bare = isIP(text) === 6 ? `[${text}]` : text;
  if (bare.includes(':') && !bare.startsWith('[')) return undefined;
  const url = `http://${bare}/`;
  if (!URL.canParse(url)) return undefined;
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return host === '' || host.length > 253 ? undefined : host;
}

/** @param host its one spelling, as toHost returns it */
export function admitsHost(patterns: readonly string[], host: string, port: number): boolean {
  return patterns.some((pattern) => {
    const [name = '', ownPort] = pattern.split(':');
    if (!admitsPort(ownPort, port)) return false;
    if (name === '*' || name === host) return true;
    return name.startsWith('*.') && isIP(host) === 0 && host.endsWith(name.slice(1));
  });
}

function admitsPort(own: string | undefined, port: number): boolean {
  return own === undefined ? WEB_PORTS.has(port) : own === '*' || Number(own) === port;
}
