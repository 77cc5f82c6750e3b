import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { makeOwned, readProcess } from '#lib/session-runtime';
import { tidy } from './upkeep.js';

const DAY_MS = 86_400_000;

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'upkeep-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const path = (name: string): string => join(root, 'w', 'r', name);

function make(name: string, { days, content = '' }: { days: number; content?: string }): string {
  const file = path(name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
  const time = new Date(Date.now() - days * DAY_MS);
  utimesSync(file, time, time);
  return file;
}

/** The owner of a folder whose process is gone. */
async function gone(): Promise<object> {
  const child = spawn('sleep', ['60']);
  const { pid, startTicks } = readProcess(child.pid ?? 0)!;
  child.kill('SIGKILL');
  await once(child, 'exit');
  await makeOwned(path('own'));
  const own = JSON.parse(readFileSync(path('own/owner.json'), 'utf8')) as object;
  return { ...own, pid, startTicks };
}

const upkeep = () => tidy({ folder: root, keepDays: 14 });

it('removes the folders of killed processes, and no others', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'drover-key-'));
  const owner = await gone();
  const dead = JSON.stringify(owner);
  writeFileSync(join(temporary, 'owner.json'), dead);
  make('used', { days: 0 });
  make('runs/dead/owner.json', { days: 0, content: dead });
  make('steps/dead/owner.json', { days: 0, content: dead });
  await makeOwned(path('runs/live'));
  const foreign = JSON.stringify({ ...owner, namespace: 'pid:[1]' });
  make('runs/foreign/owner.json', { days: 29, content: foreign });
  make('runs/lost/owner.json', { days: 31, content: foreign });
  await upkeep();
  for (const each of [temporary, path('runs/dead'), path('steps/dead'), path('runs/lost')]) {
    expect(existsSync(each)).toBe(false);
  }
  expect(existsSync(path('runs/live'))).toBe(true);
  expect(existsSync(path('runs/foreign'))).toBe(true);
});

it('removes what nobody has used for long, but nothing that is in use', async () => {
  make('used', { days: 1 });
  make('setup/old/paths.json', { days: 15 });
  make('setup/new/paths.json', { days: 13 });
  await makeOwned(path('runs/live'));
  const run = path('runs/live/owner.json');
  const longAgo = new Date(Date.now() - 20 * DAY_MS);
  utimesSync(run, longAgo, longAgo);
  await upkeep();
  // The run can use it: it began before.
  expect(existsSync(path('setup/old'))).toBe(true);
  utimesSync(run, new Date(), new Date());
  await upkeep();
  expect(existsSync(path('setup/old'))).toBe(false);
  expect(existsSync(path('setup/new'))).toBe(true);

  make('used', { days: 15 });
  await upkeep();
  expect(existsSync(path('used'))).toBe(true);
  rmSync(path('runs/live'), { recursive: true });
  await upkeep();
  expect(existsSync(path(''))).toBe(false);
});
