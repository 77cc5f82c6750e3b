import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type Credentials, DroverProblem } from '#lib/api-client';
import { connectTo } from '../connect.js';
import type { Contexts, Tokens } from './contexts.js';

/** A token is renewed if it expires within this time, in milliseconds. */
const MARGIN_MS = 30_000;
/** A refresh has no retries, because a repeated refresh ends the session. */
const REFRESH_LIMITS = { retries: 0, timeoutMs: 15_000 };
/** This time exceeds the longest work of a lock owner. */
const LOCK_STALE_MS = 60_000;
const LOCK_POLL_MS = 50;

/**
 * Credentials of a signed-in user, which are refreshed at expiry. A refresh token is valid once, so
 * concurrent commands take turns and reuse the pair that another command stored.
 */
export function storedTokens(contexts: Contexts, name: string): Credentials {
  const tokens = (): Tokens | undefined => contexts.get(name).tokens;

  async function refresh(refused: string | undefined): Promise<boolean> {
    return withLock(`${contexts.path}.lock`, async () => {
      const pair = tokens();
      if (pair === undefined) return false;
      if (pair.accessToken !== refused && pair.endsAt - Date.now() > MARGIN_MS) return true;
      const drover = connectTo({ baseUrl: contexts.get(name).url, ...REFRESH_LIMITS });
      try {
        const body = { refreshToken: pair.refreshToken };
        const next = await drover.post('/api/v1/auth/refresh', { body });
        contexts.renewTokens(name, pair, toTokens(next));
        return true;
      } catch (error) {
        if (error instanceof DroverProblem && error.status === 401) return false;
        throw error;
      }
    });
  }

  return {
    headers: async (): Promise<Record<string, string>> => {
      const pair = tokens();
      if (pair && pair.endsAt - Date.now() <= MARGIN_MS) await refresh(undefined);
      const current = tokens()?.accessToken;
      return current === undefined ? {} : { authorization: `Bearer ${current}` };
    },
    renew: ({ authorization }) => refresh(authorization?.slice('Bearer '.length)),
  };
}

/** Converts the answer of a sign-in or refresh to stored tokens, by the local clock. */
export function toTokens(answer: {
  accessToken: string;
  expiresInSeconds: number;
  refreshToken: string;
}): Tokens {
  const { accessToken, refreshToken, expiresInSeconds } = answer;
  return { accessToken, refreshToken, endsAt: Date.now() + expiresInSeconds * 1000 };
}

async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const owner = `${process.pid} ${randomUUID()}`;
  while (!acquire(path, owner)) await delay(LOCK_POLL_MS);
  try {
    return await work();
  } finally {
    // If this process stalled, another process removed the lock as stale and owns the file now.
    if (read(path) === owner) rmSync(path, { force: true });
  }
}

function acquire(path: string, owner: string): boolean {
  try {
    writeFileSync(path, owner, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    removeStale(path);
    return false;
  }
}

/** Removes the lock of a killed owner. One process moves it away, and restores a newer lock. */
function removeStale(path: string): void {
  const aside = `${path}.${process.pid}`;
  try {
    if (Date.now() - statSync(path).mtimeMs <= LOCK_STALE_MS) return;
    renameSync(path, aside);
    if (Date.now() - statSync(aside).mtimeMs <= LOCK_STALE_MS) renameSync(aside, path);
    else rmSync(aside);
  } catch {
    // Another process removed it first.
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
