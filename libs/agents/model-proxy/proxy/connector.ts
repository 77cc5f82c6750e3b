import { buildConnector } from 'undici';

/** The provider got nothing of the request. */
export class NotConnected extends Error {}

/** Connects to providers. Its failures differ from those of a connection that was there. */
export function connectorTo(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout, allowH2: false });
  // Undici cancels an attempt by the socket that is returned.
  return (options, callback) =>
    connect(options, (...result) => {
      const [error] = result;
      if (error === null) callback(...result);
      else callback(new NotConnected(error.message, { cause: error }), null);
    });
}
