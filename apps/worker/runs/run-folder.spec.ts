import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_FILE_BYTES, readJsonFile, RunFolder } from './run-folder.js';

let dir: string;
let folder: RunFolder;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-run-folder-'));
  folder = new RunFolder(dir, 'run');
  mkdirSync(folder.root);
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('A file that the process wrote', () => {
  test('a file with a JSON object is read', async () => {
    expect(await readJsonFile(folder.outputFile)).toEqual({ kind: 'absent' });
    writeFileSync(folder.outputFile, ' ');
    expect(await readJsonFile(folder.outputFile)).toEqual({ kind: 'absent' });
    writeFileSync(folder.outputFile, '{"pages":8}');
    expect(await readJsonFile(folder.outputFile)).toEqual({ kind: 'object', value: { pages: 8 } });
  });

  test.each([
    ['echo "[1]"', 'is no JSON object'],
    [`head -c ${MAX_FILE_BYTES + 1} /dev/zero`, `has more than ${MAX_FILE_BYTES} bytes`],
  ])('a file written by %s is unusable', async (command, why) => {
    execFileSync('sh', ['-c', `${command} > "$0"`, folder.outputFile]);
    expect(await readJsonFile(folder.outputFile)).toEqual({ kind: 'unusable', why });
  });

  test.each([
    ['mkfifo', 'is no regular file'],
    ['ln -s /dev/zero', 'is a symbolic link'],
    ['mkdir', 'is no regular file'],
  ])('a file made by %s is unusable at once', async (command, why) => {
    execFileSync('sh', ['-c', `${command} "$0"`, folder.outputFile]);
    expect(await readJsonFile(folder.outputFile)).toEqual({ kind: 'unusable', why });
  });
});
