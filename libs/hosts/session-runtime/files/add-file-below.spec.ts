import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addFileBelow } from './add-file-below.js';

let top: string;
let folder: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'drover-add-'));
  folder = join(top, 'session');
  mkdirSync(folder);
  mkdirSync(join(top, 'elsewhere'));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

test('a file and its folders are added once', async () => {
  await addFileBelow(folder, 'a/b/c.txt', 'first');
  await addFileBelow(folder, 'a/d.txt', Buffer.from('second'));
  expect(readFileSync(join(folder, 'a/b/c.txt'), 'utf8')).toBe('first');
  expect(readFileSync(join(folder, 'a/d.txt'), 'utf8')).toBe('second');
  await expect(addFileBelow(folder, 'a/d.txt', 'third')).rejects.toThrow('EEXIST');
});

test('a file that replaces another one replaces a link too, and leaves nothing else', async () => {
  mkdirSync(join(folder, 'a'));
  symlinkSync(join(top, 'elsewhere/new'), join(folder, 'a/b.txt'));
  for (const content of ['first', 'second']) {
    await addFileBelow(folder, 'a/b.txt', content, { replaces: true });
    expect(readFileSync(join(folder, 'a/b.txt'), 'utf8')).toBe(content);
  }
  mkdirSync(join(folder, 'a/c.txt'));
  await expect(addFileBelow(folder, 'a/c.txt', 'x', { replaces: true })).rejects.toThrow();
  expect(readdirSync(join(folder, 'a'))).toEqual(['b.txt', 'c.txt']);
  expect(readdirSync(join(top, 'elsewhere'))).toEqual([]);
});

test('no link and no name leads out of the folder', async () => {
  symlinkSync(join(top, 'elsewhere'), join(folder, 'link'));
  symlinkSync(join(top, 'elsewhere/new'), join(folder, 'name'));
  for (const name of ['link/x', 'link/deep/x', '../elsewhere/x', '/x', 'a//x']) {
    await expect(addFileBelow(folder, name, 'x')).rejects.toThrow('has no folder for');
  }
  await expect(addFileBelow(folder, 'name', 'x')).rejects.toThrow('EEXIST');
  expect(readdirSync(join(top, 'elsewhere'))).toEqual([]);
});
