import { afterAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from './make-folder.js';

const root = mkdtempSync(join(tmpdir(), 'drover-make-folder-'));
afterAll(() => rmSync(root, { recursive: true }));

it('a folder and its parents are created once', () => {
  const path = join(root, 'a', 'b', 'c');
  expect([makeFolder(path, 0o700), makeFolder(path, 0o700)]).toEqual([true, false]);
  expect([path, join(root, 'a')].map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o700]);
});

it('a file in the way is reported', () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow('EEXIST');
  expect(() => makeFolder(join(file, 'inner', 'most'))).toThrow(/EEXIST|ENOTDIR/);
});

it.each(process.platform === 'linux' ? ['/proc/drover', '/proc/drover/inner'] : [])(
  'creating a folder in %s terminates',
  (path) => {
    expect(() => makeFolder(path)).toThrow('ENOENT');
  },
);
