import { toHost } from '#lib/kernel';

/** The host that a request to the proxy names. */
export interface Target {
  /** Its one spelling. */
  host: string;
  /** As the client wrote it. */
  written: string;
  port: number;
  /** The value of the header `Host`, whatever the client sent. */
  authority: string;
  /** The path and query of a request. */
  path: string;
}

const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/;
const HTTP_URL = /^http:\/\/([^/?#]*)((?:[/?][^#]*)?)$/i;
const HTTP_PORT = 80;
const MAX_PORT = 65_535;

/** @returns undefined unless it is a host with a port */
export function targetOfConnect(text = ''): Target | undefined {
  return targetOf(text, '');
}

/** @returns undefined unless it is an http:// address without credentials */
export function targetOfRequest(text = ''): Target | undefined {
  const [, authority, rest = ''] = HTTP_URL.exec(text) ?? [];
  if (authority === undefined) return undefined;
  return targetOf(authority, rest.startsWith('/') ? rest : `/${rest}`, HTTP_PORT);
}

function targetOf(text: string, path: string, defaultPort?: number): Target | undefined {
  const [, written = '', digits] = AUTHORITY.exec(text) ?? [];
  const host = toHost(written);
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === undefined || port === undefined || port < 1 || port > MAX_PORT) return undefined;
  const name = host.includes(':') ? `[${host}]` : host;
  const authority = port === HTTP_PORT ? name : `${name}:${port}`;
  return { host, written, port, authority, path };
}
