import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { chmodSync, closeSync, linkSync, mkdirSync, mkdtempSync, openSync } from 'node:fs';
import { rmSync, statSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureFolder } from './folder-size.js';

const MIB = 1_048_576;
const BLOCK = 4_096;
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-size-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const measure = (most = Infinity) => measureFolder({ path: dir, most, pids: [process.pid] });
const fill = (name: string, bytes: number) =>
  writeFileSync(join(dir, name), Buffer.alloc(bytes, 1));

test('a folder has the size of the blocks of all its files', async () => {
  mkdirSync(join(dir, 'a/b'), { recursive: true });
  fill('a/b/c', MIB);
  fill('d', MIB);
  const size = await measure();
  expect(size).toBeGreaterThanOrEqual(2 * MIB);
  expect(size).toBeLessThan(2 * MIB + 20 * BLOCK);
});

test('names of one file, links, and holes of sparse files take up no space', async () => {
  fill('file', MIB);
  for (const name of ['b', 'c', 'd']) linkSync(join(dir, 'file'), join(dir, name));
  symlinkSync('/usr', join(dir, 'usr'));
  writeFileSync(join(dir, 'sparse'), '');
  truncateSync(join(dir, 'sparse'), 1_000 * MIB);
  expect(await measure()).toBeLessThan(1.2 * MIB);
});

test('empty files cost a block each', async () => {
  for (let index = 0; index < 100; index += 1) fill(`file-${index}`, 0);
  expect(await measure()).toBeGreaterThanOrEqual(100 * BLOCK);
});

test('a deleted file counts while a process has it open', async () => {
  fill('file', MIB);
  const fd = openSync(join(dir, 'file'), 'r');
  unlinkSync(join(dir, 'file'));
  const size = await measure();
  closeSync(fd);
  expect(size).toBeGreaterThan(MIB);
  expect(await measure()).toBeLessThan(MIB);
});

test('the measurement ends when the maximum is exceeded', async () => {
  for (let index = 0; index < 100; index += 1) fill(`file-${index}`, 0);
  const size = await measure(10 * BLOCK);
  expect(size).toBeGreaterThan(10 * BLOCK);
  expect(size).toBeLessThan(15 * BLOCK);
});

test('a chain of 300 folders is measured, and a tree with as many open folders is too large', async () => {
  const chain = Array.from({ length: 300 }, () => 'd').join('/');
  mkdirSync(join(dir, 'chain', chain), { recursive: true });
  expect(await measure()).toBeGreaterThan(300 * BLOCK);
  for (let depth = 0; depth < 300; depth += 1) {
    mkdirSync(join(dir, 'chain', Array.from({ length: depth + 1 }, () => 'd').join('/'), 'a'));
  }
  const size = await measure();
  expect(size === Infinity || size > 600 * BLOCK).toBe(true);
});

test('a closed folder counts, and is closed afterwards', async () => {
  mkdirSync(join(dir, 'closed/within'), { recursive: true });
  fill('closed/file', MIB);
  fill('closed/within/file', MIB);
  chmodSync(join(dir, 'closed'), 0);
  expect(await measure()).toBeGreaterThan(2 * MIB);
  expect(statSync(join(dir, 'closed')).mode & 0o7777).toBe(0);
});

test('an absent folder has no size', async () => {
  rmSync(dir, { recursive: true });
  expect(await measure()).toBe(0);
});
