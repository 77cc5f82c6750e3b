import { type ClientOptions, createClient, type DroverClient, type Fetch } from '#lib/api-client';
import { fetchOver } from '#lib/kernel';
import { localSocketOf } from './contexts/local.js';

/**
 * A client of the server, or of several, whose addresses are separated by commas. The server of
 * `drover up` is asked over its socket, where only this user's server can listen: its port may
 * belong to another program after a stop.
 */
export function connectTo(options: ClientOptions & { baseUrl: string }): DroverClient {
  return createClient({ ...options, ...localFetch(options.baseUrl) });
}

/** The way to the local server, for each request to it. Other servers are asked as usual. */
export function localFetch(baseUrl: string): Pick<ClientOptions, 'fetch'> {
  const local = splitAddresses(baseUrl).flatMap((address) => {
    const socket = localSocketOf(address);
    return socket === undefined
      ? []
      : [{ origin: new URL(address).origin, ask: fetchOver(socket) }];
  });
  if (local.length === 0) return {};
  const ask: Fetch = (url, init) => {
    const { origin } = new URL(url);
    return (local.find((one) => one.origin === origin)?.ask ?? fetch)(url, init);
  };
  return { fetch: ask };
}

export function splitAddresses(baseUrl: string): string[] {
  return baseUrl.split(',').map((address) => address.trim());
}
