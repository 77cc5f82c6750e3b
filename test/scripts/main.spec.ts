import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-scripts-'));
  // Packages are installed without a list, so the program stops here.
  mkdirSync(join(folder, 'with a blank', 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'with a blank', 'node_modules', '.package-lock.json'), '{}');
  cpSync('scripts', join(folder, 'with a blank', 'scripts'), { recursive: true });
  symlinkSync(join(folder, 'with a blank'), join(folder, 'link'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each(['with a blank', 'link'])('npm run check does its work in a folder like "%s"', (name) => {
  const script = join(folder, name, 'scripts', 'check.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining('package-lock.json')]);
});

it.each([
  ['stop', 0],
  ['status', 0],
  ['--daemon', 1],
])('npm start -- %s in a clone that cannot be made ready exits with %i', (argument, code) => {
  const clone = join(folder, 'link');
  mkdirSync(join(clone, 'dist/tools/start'), { recursive: true });
  writeFileSync(join(clone, 'dist/tools/start/main.js'), '');
  const script = join(clone, 'scripts', 'start.mjs');
  expect(spawnSync(process.execPath, [script, argument]).status).toBe(code);
});
