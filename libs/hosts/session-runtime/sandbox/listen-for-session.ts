import { once } from 'node:events';
import { chmodSync, closeSync, constants, openSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { basename, dirname } from 'node:path';
import { pipeline } from 'node:stream';

/** Headers of one connection, and of proxies: a session is none. */
const NOT_FORWARDED = [
  'connection',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
];

/**
 * Listens on a Unix socket that a sandbox can have.
 *
 * @returns a function that closes the server and its socket once; open requests are the caller's
 */
export async function listenForSession(server: Server, socket: string): Promise<() => void> {
  // The path of a Unix socket has at most 107 bytes. The descriptor makes it short.
  const folder = openSync(dirname(socket), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const path = `/proc/self/fd/${folder}/${basename(socket)}`;
    server.listen(path);
    await once(server, 'listening');
    server.on('error', () => undefined);
    // The session can have another user. Only the host can enter the folder.
    chmodSync(path, 0o666);
    return () => {
      if (server.listening) server.close(() => closeSync(folder));
    };
  } catch (error) {
    closeSync(folder);
    throw error;
  }
}

/** The headers for the other end, without those of one connection. */
export function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...NOT_FORWARDED, ...named]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}

/**
 * Passes an answer on to a session.
 *
 * @returns false for an answer that Node reads and does not write, such as one of status 99
 */
export function passOn(
  response: IncomingMessage,
  answer: ServerResponse,
  headers: IncomingHttpHeaders,
): boolean {
  try {
    answer.writeHead(response.statusCode ?? 502, headers);
  } catch {
    response.destroy();
    return false;
  }
  // The first event of a stream can take long.
  answer.flushHeaders();
  pipeline(response, answer, () => undefined);
  return true;
}
