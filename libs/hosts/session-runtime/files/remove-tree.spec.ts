import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from './remove-tree.js';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

let folder: string;
let root: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-remove-'));
  root = join(folder, 'root');
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
});
afterEach(() => {
  execFileSync('chmod', ['-R', 'u+rwX', folder]);
  rmSync(folder, { recursive: true });
});

/** Root can open everything, so the test runs as another user for a while. */
async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (!isRoot) return work();
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

function make(script: string): void {
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  execFileSync('sh', ['-ec', `mkdir "$0"; cd "$0"; ${script}`, root], { cwd: folder, ...user });
}

describe('removeTree', () => {
  it.each([
    ['open folders', 'mkdir -p a/b; touch a/b/file a/file'],
    ['read-only folders', 'mkdir -p a/b/c; touch a/b/file a/file; chmod -R a-w .'],
    ['folders that cannot even be listed', 'mkdir -p a/b; touch a/b/file; chmod 0 a/b a .'],
  ])('a tree with %s is removed', async (_what, script) => {
    make(script);
    await asOrdinaryUser(() => removeTree(root));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('the target of a link stays untouched', async () => {
    make(
      'mkdir ../other; touch ../other/file; chmod 500 ../other; ln -s ../other link; chmod 500 .',
    );
    await asOrdinaryUser(() => removeTree(root));
    expect(existsSync(root)).toBe(false);
    expect(statSync(join(folder, 'other')).mode & 0o777).toBe(0o500);
    expect(existsSync(join(folder, 'other/file'))).toBe(true);
  });

  it('a link and a file are removed, and an absent path is no error', async () => {
    make('touch file; ln -s / link');
    for (const name of ['file', 'link', 'gone']) await removeTree(join(root, name));
    expect(readdirSync(root)).toEqual([]);
  });

  it('a forbidden removal fails with its reason', async () => {
    make('mkdir a; chmod 500 .');
    await expect(asOrdinaryUser(() => removeTree(join(root, 'a')))).rejects.toThrow('EACCES');
  });
});
