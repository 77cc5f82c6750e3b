import type { Socket } from 'node:net';

/** Resolves when the connection has ended, by whichever side and in whichever way: a reset is one. */
export function closed(socket: Socket): Promise<void> {
  socket.on('error', () => undefined);
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
