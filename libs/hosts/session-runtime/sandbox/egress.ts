import type { HostCredential, Reach } from '#lib/kernel';

/** The way of one session with the network `allow` to the hosts that its lists admit. */
export interface Egress {
  /** The path of the proxy's Unix socket outside of the sandbox. */
  socket: string;
  /** The session reaches a host that every list admits. */
  allowedHosts: Reach['allowedHosts'];
  /** The hosts with their ports that can have internal addresses. */
  privateHosts: readonly string[];
  /** The headers that the proxy adds. The session must not get them. */
  credentials: CredentialSource;
}

/** Credentials for hosts, or a function that is asked for them before each request. */
export type CredentialSource =
  | readonly HostCredential[]
  | (() => Promise<readonly HostCredential[]>);

/** The port of the proxy on the sandbox's own loopback address. */
export const EGRESS_PORT = 6174;

/** The variables by which programs find the proxy, in both spellings. */
export function proxyVariables(): Record<string, string> {
  const proxy = `http://127.0.0.1:${EGRESS_PORT}`;
  const named = {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    // The server and the model proxy are there.
    NO_PROXY: 'localhost,127.0.0.1,::1',
  };
  const lower = Object.entries(named).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...named, ...Object.fromEntries(lower), NODE_USE_ENV_PROXY: '1' };
}
