import { createHash } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedError, errnoOf } from './errors.js';

const WAIT_MS = 300_000;

/**
 * Runs `body` while no other process of this machine runs one under the same name. The lock is a
 * listening socket, so the system releases it however its holder dies.
 */
export async function withLock<T>(name: string, body: () => Promise<T>): Promise<T> {
  const release = await acquire(name);
  try {
    return await body();
  } finally {
    await release();
  }
}

async function acquire(name: string): Promise<() => Promise<void>> {
  const path = socketPath(name);
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const server = await tryListen(path);
    if (server) return server;
    const left = deadline - Date.now();
    if (left <= 0) throw lockTimeout(name);
    await holderGone(path, left);
  }
}

// Linux has socket names outside the file system, which cannot be left behind.
function socketPath(name: string): string {
  const id = `drover-${createHash('sha256').update(name).digest('hex').slice(0, 24)}`;
  return process.platform === 'linux' ? `\0${id}` : join(tmpdir(), `${id}.sock`);
}

async function tryListen(path: string): Promise<(() => Promise<void>) | undefined> {
  const waiting = new Set<Socket>();
  const server: Server = createServer((socket) => {
    waiting.add(socket);
    socket.on('error', () => undefined).on('close', () => waiting.delete(socket));
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ path }, resolve);
    });
  } catch (error) {
    if (errnoOf(error) === 'EADDRINUSE') return undefined;
    throw error;
  }
  return () =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
      for (const socket of waiting) socket.destroy();
    });
}

async function holderGone(path: string, withinMs: number): Promise<void> {
  const refused = await new Promise<boolean>((resolve) => {
    const socket = connect({ path });
    socket.setTimeout(withinMs, () => socket.destroy());
    socket.resume();
    socket.once('error', (error) => {
      resolve(errnoOf(error) === 'ECONNREFUSED');
    });
    socket.once('close', () => {
      resolve(false);
    });
  });
  if (!refused) return;
  if (path.startsWith('\0')) await delay(20);
  else await unlink(path).catch(() => undefined);
}

function lockTimeout(name: string): EmbeddedError {
  return new EmbeddedError(
    'lock_timeout',
    `Another process has been busy with ${name} for ${String(WAIT_MS / 60_000)} minutes: wait for it or stop it, then try again.`,
  );
}
