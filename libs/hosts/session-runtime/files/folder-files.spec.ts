import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { copyFileBelow, listFilesBelow, markFileBelow, readFileBelow } from './folder-files.js';

const SECRET = 'a file of the host';

let top: string;
let folder: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'drover-files-'));
  folder = join(top, 'work');
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  mkdirSync(join(top, 'host'));
  writeFileSync(join(top, 'host/secret'), SECRET);
  writeFileSync(join(folder, 'a/b/c.txt'), 'deep');
  writeFileSync(join(folder, 'z.txt'), 'flat');
});
afterEach(() => rmSync(top, { recursive: true }));

const names = async (most = 100) => (await listFilesBelow(folder, { most })).names;
const read = (name: string, maxBytes = 100) => readFileBelow(folder, name, maxBytes);

test('files of all folders are listed in order and read', async () => {
  expect(await names()).toEqual(['a/b/c.txt', 'z.txt']);
  const file = await read('a/b/c.txt');
  const mark = await markFileBelow(folder, 'a/b/c.txt');
  expect(mark).toMatch(/^\d+ 4 \d+$/);
  expect(file).toEqual({ kind: 'bytes', bytes: Buffer.from('deep'), isExecutable: false, mark });
  chmodSync(join(folder, 'z.txt'), 0o755);
  expect(await read('z.txt')).toMatchObject({ isExecutable: true });
});

test('links, pipes and other names of a file lead nowhere', async () => {
  symlinkSync(join(top, 'host/secret'), join(folder, 'link'));
  symlinkSync(join(top, 'host'), join(folder, 'folder'));
  linkSync(join(top, 'host/secret'), join(folder, 'hard'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  expect(await names()).toEqual(['a/b/c.txt', 'hard', 'z.txt']);
  for (const name of ['link', 'folder/secret', 'hard', 'pipe', 'a', 'a/b', '../host/secret']) {
    expect([name, await read(name)]).toMatchObject([name, { kind: 'unusable' }]);
    if (name !== 'hard' && !name.startsWith('..')) {
      expect([name, await markFileBelow(folder, name)]).toEqual([name, undefined]);
    }
  }
});

test('a link in the place of the folder has no files', async () => {
  const path = join(top, 'other');
  symlinkSync(join(top, 'host'), path);
  expect(await listFilesBelow(path, { most: 9 })).toEqual({ names: [], isCut: false });
  expect(await readFileBelow(path, 'secret', 100)).toMatchObject({ kind: 'unusable' });
});

test('a copy has the whole file and its right to execute, and nothing of a refused one', async () => {
  const bytes = randomBytes(200_000);
  writeFileSync(join(folder, 'a/b/tool'), bytes, { mode: 0o755 });
  symlinkSync(join(top, 'host/secret'), join(folder, 'link'));
  const copy = (name: string, maxBytes: number) =>
    copyFileBelow(folder, name, { to: join(top, 'copy', name), maxBytes });
  expect(await copy('a/b/tool', 200_000)).toEqual({ kind: 'copied', size: 200_000 });
  expect(await copy('z.txt', 100)).toEqual({ kind: 'copied', size: 4 });
  expect(readFileSync(join(top, 'copy/a/b/tool')).equals(bytes)).toBe(true);
  expect(statSync(join(top, 'copy/a/b/tool')).mode & 0o777).toBe(0o700);
  expect(statSync(join(top, 'copy/z.txt')).mode & 0o777).toBe(0o600);
  expect(await copy('link', 100)).toMatchObject({ kind: 'unusable' });
  expect(await copy('a/b/c.txt', 3)).toEqual({ kind: 'unusable', why: 'has more than 3 bytes' });
  expect((await listFilesBelow(join(top, 'copy'), { most: 9 })).names).toEqual([
    'a/b/tool',
    'z.txt',
  ]);
});

test('a file in the way of another one, or with too long a path, is not copied', async () => {
  const copy = (name: string, to: string) =>
    copyFileBelow(folder, name, { to: join(top, 'copy', to), maxBytes: 100 });
  expect(await copy('z.txt', 'a')).toMatchObject({ kind: 'copied' });
  expect(await copy('a/b/c.txt', 'b/c')).toMatchObject({ kind: 'copied' });
  for (const to of ['a', 'a/x', 'a/x/y', 'b']) {
    expect(await copy('z.txt', to)).toEqual({
      kind: 'unusable',
      why: 'is in the way of another file',
    });
  }
  expect(await copy('z.txt', `${'long/'.repeat(1_000)}x`)).toEqual({
    kind: 'unusable',
    why: 'has too long a path',
  });
});

test('more files than the maximum are cut, and a larger file is not read', async () => {
  expect(await listFilesBelow(folder, { most: 1 })).toMatchObject({ isCut: true });
  expect(await listFilesBelow(folder, { most: 2 })).toMatchObject({ isCut: false });
  expect(await read('z.txt', 3)).toEqual({ kind: 'unusable', why: 'has more than 3 bytes' });
});

test('files below the depth of 32 folders are cut', async () => {
  const deep = join(folder, 'd/'.repeat(40));
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(deep, 'x'), '');
  expect(await listFilesBelow(folder, { most: 100 })).toMatchObject({ isCut: true });
});

test('a left out folder is not searched', async () => {
  const leaveOut = (name: string) => name === 'a';
  const found = await listFilesBelow(folder, { most: 100, leaveOut });
  expect(found).toEqual({ names: ['z.txt'], isCut: false });
});
