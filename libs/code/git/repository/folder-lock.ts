import { mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, ownRef, type ProcessRef } from '#lib/session-runtime';

const POLL_MS = 50;
/** A lock whose holder is not written yet is of a process that was killed between the two. */
const EMPTY_MS = 5_000;
const held = new Map<string, Promise<unknown>>();

/**
 * Works while no other process of this machine, and no other caller of this one, holds the lock. A
 * lock of a dead process is free.
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const before = held.get(path) ?? Promise.resolve();
  const own = turnAfter(before, signal).then(async () => {
    await take(path, signal);
    try {
      return await work();
    } finally {
      await rm(path, { force: true });
    }
  });
  // A caller that no longer waits leaves the turn of those before it.
  const settled = Promise.allSettled([before, own]);
  held.set(path, settled);
  void settled.then(() => {
    if (held.get(path) === settled) held.delete(path);
  });
  return own;
}

/** @throws the reason of the signal if it aborts before the turn comes */
function turnAfter(before: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal?.reason as Error);
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort, { once: true });
    void before.then(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
  });
}

async function take(path: string, signal: AbortSignal | undefined): Promise<void> {
  await mkdir(path.slice(0, path.lastIndexOf('/')), { recursive: true });
  for (;;) {
    const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return undefined;
    });
    if (file !== undefined) {
      await file.writeFile(JSON.stringify(ownRef()));
      return file.close();
    }
    if (await isFree(path)) await rm(path, { force: true });
    else await delay(POLL_MS, undefined, { signal });
  }
}

async function isFree(path: string): Promise<boolean> {
  try {
    const holder = JSON.parse(await readFile(path, 'utf8')) as ProcessRef;
    return !isAlive(holder);
  } catch {
    const made = await stat(path).catch(() => undefined);
    return made !== undefined && Date.now() - made.mtimeMs > EMPTY_MS;
  }
}
