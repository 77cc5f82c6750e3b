import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Log } from '#lib/agent-host';
import { Drivers, makeOwned, readProcess } from '#lib/session-runtime';
import { tidy } from './upkeep.js';

const DAY_MS = 86_400_000;

let root: string;
const lines: string[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'upkeep-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const path = (name: string): string => join(root, 'code', 'w', 'r', name);

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

const sessions = (): string => join(root, 'sessions');
const scripts = (): string => join(root, 'scripts');
const never = new AbortController().signal;

function upkeep(signal = never): Promise<void> {
  const drivers = new Drivers({ dir: sessions() }, { process: { searchPath: '' } });
  const log = new Log((line) => lines.push(line));
  const options = { folder: join(root, 'code'), keepDays: 14, scripts: scripts(), drivers, log };
  return tidy(options, signal);
}

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

it('removes folders without an owner, and the sandboxes of scripts, of killed processes', async () => {
  const dead = JSON.stringify(await gone());
  for (const id of ['dead', 'live']) mkdirSync(join(sessions(), id, 'work'), { recursive: true });
  mkdirSync(join(scripts(), 'dead'), { recursive: true });
  writeFileSync(join(scripts(), 'dead/owner.json'), dead);
  await makeOwned(join(scripts(), 'live'));
  const key = mkdtempSync(join(tmpdir(), 'drover-key-'));
  make('used', { days: 15 });
  mkdirSync(path('runs/new'), { recursive: true });
  mkdirSync(path('runs/old'), { recursive: true });
  const longAgo = new Date(Date.now() - 1.1 * DAY_MS);
  for (const folder of [path('runs/old'), key]) utimesSync(folder, longAgo, longAgo);
  await upkeep();
  expect(readdirSync(sessions())).toEqual(['live']);
  expect(readdirSync(scripts())).toEqual(['live']);
  expect(readdirSync(path('runs'))).toEqual(['new']);
  expect(existsSync(key)).toBe(false);
  rmSync(path('runs/new'), { recursive: true });
  await upkeep();
  expect(existsSync(path(''))).toBe(false);
});

it('removes results of setups that never ended, and keeps 5 that only some changes use', async () => {
  make('used', { days: 0 });
  make('setup/failed/index', { days: 0 });
  for (let days = 0; days < 7; days += 1) make(`setup/own-${days}/paths.json`, { days });
  make('setup/shared/paths.json', { days: 8 });
  await upkeep();
  const own = ['own-0', 'own-1', 'own-2', 'own-3', 'own-4'];
  expect(readdirSync(path('setup'))).toEqual([...own, 'shared']);
});

it('goes on after a folder that it cannot remove, and reads no owner that is a pipe', async () => {
  const pipe = mkdtempSync(join(tmpdir(), 'drover-pipe-'));
  spawnSync('mkfifo', [join(pipe, 'owner.json')]);
  make('used', { days: 15 });
  // A folder in place of the lock: the repository cannot be locked.
  const lock = join(root, 'code', 'w', 'q', 'mirror.lock');
  mkdirSync(lock, { recursive: true });
  utimesSync(lock, 0, 0);
  const ending = new AbortController();
  ending.abort();
  await upkeep(ending.signal);
  expect(existsSync(path('used'))).toBe(true);
  expect(lines).toEqual([]);
  await upkeep();
  expect(existsSync(path('used'))).toBe(false);
  expect(existsSync(pipe)).toBe(true);
  rmSync(pipe, { recursive: true });
  expect(lines.join()).toContain('"path"');
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
