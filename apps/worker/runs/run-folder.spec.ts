import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FinalReport } from '../api/types.js';
import { MAX_FILE_BYTES, readJsonFile, RunFolder } from './run-folder.js';

let dir: string;
let folder: RunFolder;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-run-folder-'));
  folder = new RunFolder(dir, 'run');
  mkdirSync(folder.root);
});
afterEach(() => rmSync(dir, { recursive: true }));

const REPORT: FinalReport = { kind: 'complete', outputResult: { pages: 8 } };

describe('A file that the process wrote', () => {
  test('is read where it holds a JSON object', async () => {
    expect(await readJsonFile(folder.outputFile)).toEqual({ kind: 'absent' });
    writeFileSync(folder.outputFile, ' ');
    expect(await readJsonFile(folder.outputFile)).toEqual({ kind: 'absent' });
    writeFileSync(folder.outputFile, '{"pages":8}');
    expect(await readJsonFile(folder.outputFile)).toEqual({ kind: 'object', value: { pages: 8 } });
  });

  test.each([
    ['echo "[1]"', 'is no JSON object'],
    [`head -c ${MAX_FILE_BYTES + 1} /dev/zero`, `has more than ${MAX_FILE_BYTES} bytes`],
  ])('is unusable as it is written by %s', async (command, why) => {
    execFileSync('sh', ['-c', `${command} > "$0"`, folder.outputFile]);
    expect(await readJsonFile(folder.outputFile)).toEqual({ kind: 'unusable', why });
  });

  test.each([
    ['mkfifo', 'is no regular file'],
    ['ln -s /dev/zero', 'is a symbolic link'],
    ['mkdir', 'is no regular file'],
  ])('is unusable, and not waited for, as it is made by %s', async (command, why) => {
    execFileSync('sh', ['-c', `${command} "$0"`, folder.outputFile]);
    expect(await readJsonFile(folder.outputFile)).toEqual({ kind: 'unusable', why });
  });
});

describe('A report that waits for the next life', () => {
  test.each([
    ['nothing', 'true'],
    ['a pipe', 'mkfifo "$0/final-report.json"'],
    ['a folder', 'mkdir -p "$0/final-report.json/below"'],
    ['no folder', 'rm -r "$0"'],
    ['a file for the folder', 'rm -r "$0" && touch "$0"'],
    ['a closed folder', 'chmod 0 "$0"'],
  ])('is kept where the process left %s in its place', async (_what, script) => {
    execFileSync('sh', ['-c', script, folder.root]);
    await folder.keepReport(REPORT);
    expect(await folder.readReport()).toEqual(REPORT);
  });

  test('is not written through a link', async () => {
    const other = join(dir, 'other');
    writeFileSync(other, 'as it was');
    symlinkSync(other, join(folder.root, 'final-report.json'));
    await folder.keepReport(REPORT);
    expect(readFileSync(other, 'utf8')).toBe('as it was');
    expect(await folder.readReport()).toEqual(REPORT);
  });

  test('is none where it tells of no end that there is', async () => {
    writeFileSync(join(folder.root, 'final-report.json'), '{"kind":"../../agents/x/deregister"}');
    expect(await folder.readReport()).toBeUndefined();
  });
});
