// The same lock as libs/dev/local-servers/machine/lock.ts, for the time before anything is built.
import { createHash } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs `body` while no other process runs one of the same name. The death of the holder frees the
 * lock.
 */
export async function withLock(name, body) {
  const id = `drover-${createHash('sha256').update(name).digest('hex').slice(0, 24)}`;
  const path = process.platform === 'linux' ? `\0${id}` : join(tmpdir(), `${id}.sock`);
  let release;
  while ((release = await tryListen(path)) === undefined) await holderGone(path);
  try {
    return await body();
  } finally {
    release();
  }
}

function tryListen(path) {
  const waiting = new Set();
  const server = createServer((socket) => {
    waiting.add(socket);
    socket.on('error', () => {}).on('close', () => waiting.delete(socket));
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve() : reject(error)));
    server.listen({ path }, () => {
      resolve(() => {
        server.close();
        for (const socket of waiting) socket.destroy();
      });
    });
  });
}

async function holderGone(path) {
  const refused = await new Promise((resolve) => {
    const socket = connect({ path });
    socket.resume();
    socket.once('error', (error) => resolve(error.code === 'ECONNREFUSED'));
    socket.once('close', () => resolve(false));
  });
  if (!refused) return;
  if (path.startsWith('\0')) await new Promise((resolve) => setTimeout(resolve, 20));
  else await unlink(path).catch(() => {});
}
