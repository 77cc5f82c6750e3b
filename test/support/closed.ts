import type { Socket } from 'node:net';

/** Resolves when either side has ended the connection. A reset counts, too. */
export function closed(socket: Socket): Promise<void> {
  socket.on('error', () => undefined);
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
