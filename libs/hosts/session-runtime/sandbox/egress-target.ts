import { type HostCredential, toHost } from '#lib/kernel';

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
  /** The header for this host. Its scheme is that of the connection. */
  credential?: HostCredential;
}

const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/;
const HTTP_URL = /^http:\/\/([^/?#]*)((?:[/?][^#]*)?)$/i;
const HTTP_PORT = 80;
const USUAL_PORTS = { https: 443, http: HTTP_PORT };
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

/** @returns undefined unless the request within a tunnel names a path of its host */
export function targetWithin(tunnel: Target, path = ''): Target | undefined {
  return path.startsWith('/') ? { ...tunnel, path } : undefined;
}

/**
 * The same host with its credential, if it has one. The usual port of http:// stands for that of
 * https://, because the session names no port.
 */
export function withCredential(target: Target, all: readonly HostCredential[]): Target {
  for (const credential of all) {
    const usual = USUAL_PORTS[credential.scheme];
    const [name, own = usual] = credential.host.split(':');
    const port = Number(own);
    const isUsual = port === usual && target.port === HTTP_PORT;
    if (name !== target.host || (target.port !== port && !isUsual)) continue;
    return { ...target, port, authority: port === usual ? name : `${name}:${port}`, credential };
  }
  return target;
}

/**
 * An address in an answer of a host that the proxy asks by https://, as the session asks it.
 *
 * @param text has addresses, as the headers `Location` and `Link` do
 */
export function asAsked(text: string, { authority, credential }: Target): string {
  if (credential?.scheme !== 'https') return text;
  const origin = `https://${authority.replaceAll('.', '\\.')}`;
  return text.replaceAll(new RegExp(`${origin}(?=[/?#>]|$)`, 'gi'), `http://${authority}`);
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
