import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-scripts-'));
  mkdirSync(join(folder, 'with a blank'));
  cpSync('scripts', join(folder, 'with a blank', 'scripts'), { recursive: true });
  symlinkSync(join(folder, 'with a blank'), join(folder, 'link'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each(['with a blank', 'link'])('npm run check does its work in a folder like "%s"', (name) => {
  const script = join(folder, name, 'scripts', 'check.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  // There is nothing to check, and it says so.
  expect([status, stderr]).toEqual([1, expect.stringContaining('package-lock.json')]);
});
