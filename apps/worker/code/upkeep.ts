import { readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, messageOf } from '#lib/agent-host';
import { Mirror, withLock } from '#lib/git';
import { BackgroundLoop } from '#lib/kernel';
import { type Drivers, removeAbandoned, removeTree } from '#lib/session-runtime';
import { type CodeHostOptions, USED } from './code-host.js';
import { OWN, PATHS, setupsOf } from './setup-cache.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The folders of a repository with the runs and steps that are under way. */
const UNDER_WAY = ['runs', 'steps'];
/** The temporary folders with credentials. Only owned folders have such names. */
const KEYS = 'drover-key-';
/** The results of `setup` in a repository that only some changes use, if no more of them are in use. */
const MOST_OWN = 5;

interface UpkeepOptions extends Pick<CodeHostOptions, 'folder' | 'keepDays' | 'scripts'> {
  drivers: Drivers;
  log: Log;
}

/**
 * Removes what killed workers left, and copies of repositories and results of setups that nobody
 * has used for long.
 */
export class CodeUpkeep extends BackgroundLoop {
  constructor(options: UpkeepOptions) {
    super(
      async () => {
        await tidy(options, this.stopping);
        return HOUR_MS;
      },
      (error) => {
        options.log.warn('Unused files not removed', { error: messageOf(error) });
        return HOUR_MS;
      },
    );
  }
}

/** Goes on after a folder that it cannot remove, and ends early when the signal aborts. */
export async function tidy(options: UpkeepOptions, signal: AbortSignal): Promise<void> {
  const { folder, keepDays, scripts, drivers, log } = options;
  const onFailure = (error: unknown, path: string): void => {
    if (!signal.aborted) log.warn('Unused files not removed', { path, error: messageOf(error) });
  };
  const rounds = { onFailure, signal };
  await removeAbandoned(tmpdir(), { ...rounds, prefix: 'drover-' });
  await removeAbandoned(tmpdir(), { ...rounds, prefix: KEYS, areAllOwned: true });
  const before = async (id: string): Promise<void> => {
    await Promise.all(drivers.all.map((driver) => driver.remove(id)));
  };
  await removeAbandoned(scripts, { ...rounds, areAllOwned: true, before });
  const usedBefore = Date.now() - keepDays * DAY_MS;
  for (const workspace of await entriesOf(folder)) {
    for (const name of await entriesOf(join(folder, workspace))) {
      const repository = join(folder, workspace, name);
      await tidyRepository(repository, usedBefore, rounds).catch((error: unknown) =>
        onFailure(error, repository),
      );
    }
  }
}

type Rounds = Pick<Parameters<typeof removeAbandoned>[1], 'onFailure' | 'signal'>;

async function tidyRepository(folder: string, before: number, rounds: Rounds): Promise<void> {
  const { onFailure, signal } = rounds;
  signal.throwIfAborted();
  for (const name of UNDER_WAY) {
    await removeAbandoned(join(folder, name), { ...rounds, areAllOwned: true });
  }
  const removeUnused = async (): Promise<void> => {
    const used = (await timeOf(join(folder, USED))) ?? (await timeOf(folder)) ?? Date.now();
    if (used < before && (await oldestWork(folder)) === undefined) await removeTree(folder);
  };
  await Mirror.whileLocked(folder, removeUnused, signal);
  const setups = setupsOf(folder);
  const surplus = new Set((await ownResults(setups)).slice(MOST_OWN));
  for (const name of await entriesOf(setups)) {
    if (name.endsWith('.lock')) continue;
    const setup = join(setups, name);
    const least = surplus.has(name) ? Infinity : before;
    const removeOne = (): Promise<void> => removeUnusedSetup(setup, folder, least);
    await withLock(`${setup}.lock`, removeOne, signal).catch((error: unknown) =>
      onFailure(error, setup),
    );
  }
}

/** The results that only some changes use; the one that was used last comes first. */
async function ownResults(setups: string): Promise<string[]> {
  const names = (await entriesOf(setups)).filter(
    (name) => name.startsWith(OWN) && !name.endsWith('.lock'),
  );
  const times = await Promise.all(
    names.map(async (name) => ({ name, used: (await timeOf(join(setups, name, PATHS))) ?? 0 })),
  );
  return times.sort((a, b) => b.used - a.used).map(({ name }) => name);
}

/** While its lock is held, a result without a list of paths is one that was never finished. */
async function removeUnusedSetup(setup: string, folder: string, before: number): Promise<void> {
  const used = await timeOf(join(setup, PATHS));
  if (used === undefined) return removeTree(setup);
  if (used >= before) return;
  // Whoever uses it has begun before it was used last.
  const oldest = await oldestWork(folder);
  if (oldest === undefined || oldest > used) await removeTree(setup);
}

/** The time at which the oldest run or step that is under way began, in ms. */
async function oldestWork(folder: string): Promise<number | undefined> {
  const times: number[] = [];
  for (const kind of UNDER_WAY) {
    for (const name of await entriesOf(join(folder, kind))) {
      const work = join(folder, kind, name);
      const began = (await timeOf(join(work, 'owner.json'))) ?? (await timeOf(work));
      if (began !== undefined) times.push(began);
    }
  }
  return times.length === 0 ? undefined : Math.min(...times);
}

function entriesOf(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function timeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.mtimeMs;
}
