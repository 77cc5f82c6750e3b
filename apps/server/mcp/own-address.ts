import type { Server } from 'node:http';

const LOOPBACK: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * @returns the address under which a listening server reaches itself, such as
 *   `http://127.0.0.1:3000`
 */
export function ownAddress(server: Pick<Server, 'address'>): string {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The server listens on no port');
  const host = LOOPBACK[bound.address] ?? bound.address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`;
}
