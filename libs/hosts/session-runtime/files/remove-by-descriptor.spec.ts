import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { removeTree } from './remove-tree.js';

const OTHER = { uid: 54_321, gid: 54_321 };
const isRoot = process.getuid?.() === 0;
const FOLDERS = 40;
const FILES = Array.from({ length: 50 }, (_, index) => `file-${index}`);

/** Replaces each folder by a link and puts the folder back, without end. */
const SWAPPER = `
const { mkdirSync, renameSync, symlinkSync, unlinkSync } = require('node:fs');
const [victim, count] = process.argv.slice(1);
const quietly = (step) => { try { step(); } catch {} };
mkdirSync('away');
for (let round = 0; ; round += 1) {
  if (round === 1) console.log('swapping');
  for (let index = 0; index < count; index += 1) {
    quietly(() => renameSync('work/' + index, 'away/' + index));
    quietly(() => symlinkSync(victim, 'work/' + index));
  }
  for (let index = 0; index < count; index += 1) {
    quietly(() => unlinkSync('work/' + index));
    quietly(() => renameSync('away/' + index, 'work/' + index));
  }
}`;

let world: string;
let swapper: ChildProcess | undefined;

beforeEach(() => {
  world = mkdtempSync(join(tmpdir(), 'drover-remove-'));
  chmodSync(world, 0o755);
});

afterEach(async () => {
  if (swapper !== undefined) {
    swapper.kill('SIGKILL');
    await once(swapper, 'close');
    swapper = undefined;
  }
  rmSync(world, { recursive: true, force: true });
});

function fill(folder: string): void {
  mkdirSync(folder);
  for (const name of FILES) writeFileSync(join(folder, name), '');
}

(isRoot ? describe : describe.skip)('removeTree as root', () => {
  test('the target of a link that another user puts in place is not removed', async () => {
    const victim = join(world, 'victim');
    const theirs = join(world, 'theirs');
    const session = join(theirs, 'work');
    fill(victim);
    mkdirSync(session, { recursive: true });
    for (let index = 0; index < FOLDERS; index += 1) fill(join(session, String(index)));
    for (const folder of [theirs, session]) chownSync(folder, OTHER.uid, OTHER.gid);
    for (const name of readdirSync(session)) chownSync(join(session, name), OTHER.uid, OTHER.gid);
    const args = ['-e', SWAPPER, victim, String(FOLDERS)];
    swapper = spawn(process.execPath, args, {
      ...OTHER,
      cwd: theirs,
      stdio: ['ignore', 'pipe', 2],
    });
    await once(createInterface({ input: swapper.stdout! }), 'line');
    // A process that recreates its folder can keep this folder, and nothing else.
    await removeTree(session).catch(() => undefined);
    expect(readdirSync(victim)).toHaveLength(FILES.length);
  });
});

describe('removeTree with deep folders', () => {
  test('folders deeper than the longest path are removed', async () => {
    const tree = join(world, 'tree');
    mkdirSync(tree);
    const script = `for (let depth = 0; depth < 20; depth += 1) {
      fs.mkdirSync('a'.repeat(250));
      process.chdir('a'.repeat(250));
    }`;
    const [code] = await once(spawn(process.execPath, ['-e', script], { cwd: tree }), 'close');
    expect(code).toBe(0);
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });
});
