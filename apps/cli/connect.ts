import { fetchOver } from '#lib/agent-host';
import { type ClientOptions, createClient, type DroverClient } from '#lib/api-client';
import { localSocketOf } from './contexts/local.js';

/**
 * A client of the server. The server of `drover up` is asked over its socket, where only this
 * user's server can listen: its port may belong to another program after a stop.
 */
export function connectTo(options: ClientOptions): DroverClient {
  return createClient({ ...options, ...localFetch(options.baseUrl) });
}

function localFetch(url: string): Pick<ClientOptions, 'fetch'> {
  const socket = localSocketOf(url);
  return socket === undefined ? {} : { fetch: fetchOver(socket) };
}
