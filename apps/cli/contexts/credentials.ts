import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createClient, type Credentials, DroverProblem } from '#lib/api-client';
import type { Contexts, Tokens } from './contexts.js';

/** A token is replaced when it has less than this left, in ms. */
const MARGIN_MS = 30_000;
/** A refresh is asked for once: twice would end the session. */
const REFRESH_LIMITS = { retries: 0, timeoutMs: 15_000 };
/** Longer than its owner can be at work. */
const LOCK_STALE_MS = 60_000;
const LOCK_LOOK_MS = 50;

/**
 * The tokens of a person who has signed in, refreshed when they end. A refresh token is good once, so commands that
 * run at the same time take turns, and use the pair that another one has just stored.
 */
export function storedTokens(contexts: Contexts, name: string): Credentials {
  const tokens = (): Tokens | undefined => contexts.get(name).tokens;

  async function refresh(refused: string | undefined): Promise<boolean> {
    return withLock(`${contexts.path}.lock`, async () => {
      const pair = tokens();
      if (pair === undefined) return false;
      if (pair.accessToken !== refused && pair.endsAt - Date.now() > MARGIN_MS) return true;
      const drover = createClient({ baseUrl: contexts.get(name).url, ...REFRESH_LIMITS });
      try {
        const body = { refreshToken: pair.refreshToken };
        const next = await drover.post('/api/v1/auth/refresh', { body });
        contexts.renewTokens(name, pair, tokensOf(next));
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

/** The stored form of what signing in and refreshing answer. The server's clock may be another than ours. */
export function tokensOf(answer: {
  accessToken: string;
  expiresInSeconds: number;
  refreshToken: string;
}): Tokens {
  const { accessToken, refreshToken, expiresInSeconds } = answer;
  return { accessToken, refreshToken, endsAt: Date.now() + expiresInSeconds * 1000 };
}

async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const owner = `${process.pid} ${randomUUID()}`;
  while (!take(path, owner)) await delay(LOCK_LOOK_MS);
  try {
    return await work();
  } finally {
    // Another's, if this process stood still for so long that it was taken for dead.
    if (read(path) === owner) rmSync(path, { force: true });
  }
}

function take(path: string, owner: string): boolean {
  try {
    writeFileSync(path, owner, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    removeStale(path);
    return false;
  }
}

/** Its owner was killed. Of several that see it one moves it away; a lock that is new by then is put back. */
function removeStale(path: string): void {
  const aside = `${path}.${process.pid}`;
  try {
    if (Date.now() - statSync(path).mtimeMs <= LOCK_STALE_MS) return;
    renameSync(path, aside);
    if (Date.now() - statSync(aside).mtimeMs <= LOCK_STALE_MS) renameSync(aside, path);
    else rmSync(aside);
  } catch {
    // Somebody else was quicker.
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
