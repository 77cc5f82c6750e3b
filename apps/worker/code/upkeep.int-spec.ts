import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { makeOwned, ownRef, type ProcessRef, readProcess } from '#lib/session-runtime';
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

/** A process that is gone. */
async function gone(): Promise<ProcessRef> {
  const child = spawn('sleep', ['60']);
  const { pid, startTicks } = readProcess(child.pid ?? 0)!;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { pid, startTicks };
}

const upkeep = () => tidy({ folder: root, keepDays: 14 });

it('removes the folders of killed processes, and no others', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'drover-key-'));
  const dead = JSON.stringify(await gone());
  writeFileSync(join(temporary, 'owner.json'), dead);
  make('used', { days: 0 });
  make('runs/dead/owner.json', { days: 0, content: dead });
  make('steps/dead/owner.json', { days: 0, content: dead });
  await makeOwned(path('runs/live'));
  await upkeep();
  for (const each of [temporary, path('runs/dead'), path('steps/dead')]) {
    expect(existsSync(each)).toBe(false);
  }
  expect(existsSync(path('runs/live'))).toBe(true);
});

it('removes what nobody has used for long, but nothing that is in use', async () => {
  make('used', { days: 1 });
  make('setup/old/paths.json', { days: 15 });
  make('setup/new/paths.json', { days: 13 });
  const run = make('runs/live/owner.json', { days: 20, content: JSON.stringify(ownRef()) });
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
