import { connect } from 'node:net';

const WITHIN_MS = 2_000;
const PORT = 6379;

/** Returns the message for an address without a listener; undefined if there is a listener. */
export async function unansweredValkey(url: string): Promise<string | undefined> {
  const { hostname, port } = new URL(url);
  const at = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || PORT };
  if (await listens(at)) return undefined;
  return `Nobody answers at VALKEY_URL (${at.host}:${at.port}): Drover goes on without Valkey, with more work for Postgres. Start it, or unset VALKEY_URL for one of our own.`;
}

function listens(at: { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(at);
    const end = (listening: boolean): void => {
      socket.destroy();
      resolve(listening);
    };
    socket.setTimeout(WITHIN_MS, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
