import { readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, messageOf } from '#lib/agent-host';
import { Mirror, withLock } from '#lib/git';
import { BackgroundLoop } from '#lib/kernel';
import { removeAbandoned, removeTree } from '#lib/session-runtime';
import { type CodeHostOptions, USED } from './code-host.js';
import { PATHS, setupsOf } from './setup-cache.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The folders of a repository with the runs and steps that are under way. */
const UNDER_WAY = ['runs', 'steps'];

/**
 * Removes what killed workers left, and copies of repositories and results of setups that nobody
 * has used for long.
 */
export class CodeUpkeep extends BackgroundLoop {
  constructor(options: Pick<CodeHostOptions, 'folder' | 'keepDays'>, log: Log) {
    super(
      async () => {
        await tidy(options);
        return HOUR_MS;
      },
      (error) => {
        log.warn('Unused copies of repositories not removed', { error: messageOf(error) });
        return HOUR_MS;
      },
    );
  }
}

/** @throws the errors of the file system */
export async function tidy({
  folder,
  keepDays,
}: Pick<CodeHostOptions, 'folder' | 'keepDays'>): Promise<void> {
  await removeAbandoned(tmpdir(), 'drover-');
  const before = Date.now() - keepDays * DAY_MS;
  for (const workspace of await entriesOf(folder)) {
    for (const repository of await entriesOf(join(folder, workspace))) {
      await tidyRepository(join(folder, workspace, repository), before);
    }
  }
}

async function tidyRepository(folder: string, before: number): Promise<void> {
  for (const name of UNDER_WAY) await removeAbandoned(join(folder, name));
  await Mirror.whileLocked(folder, async () => {
    const used = (await timeOf(join(folder, USED))) ?? (await timeOf(folder)) ?? Date.now();
    if (used < before && (await oldestWork(folder)) === undefined) await removeTree(folder);
  });
  const setups = setupsOf(folder);
  for (const name of await entriesOf(setups)) {
    if (!name.endsWith('.lock')) await removeUnusedSetup(join(setups, name), folder, before);
  }
}

async function removeUnusedSetup(setup: string, folder: string, before: number): Promise<void> {
  await withLock(`${setup}.lock`, async () => {
    const used = await timeOf(join(setup, PATHS));
    if (used === undefined || used >= before) return;
    // Whoever uses it has begun before it was used last.
    const oldest = await oldestWork(folder);
    if (oldest === undefined || oldest > used) await removeTree(setup);
  });
}

/** The time at which the oldest run or step that is under way began, in ms. */
async function oldestWork(folder: string): Promise<number | undefined> {
  const times: number[] = [];
  for (const kind of UNDER_WAY) {
    for (const name of await entriesOf(join(folder, kind))) {
      times.push((await timeOf(join(folder, kind, name, 'owner.json'))) ?? 0);
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
