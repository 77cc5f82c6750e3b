import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

describe('The end of a run that an earlier version could not deliver', () => {
  const keep = (content: string) => writeFileSync(join(folder.root, 'final-report.json'), content);

  test('is read', async () => {
    keep(JSON.stringify(REPORT));
    expect(await folder.readReport()).toEqual(REPORT);
  });

  test('is none where the file tells of no end that there is', async () => {
    keep('{"kind":"../../agents/x/deregister"}');
    expect(await folder.readReport()).toBeUndefined();
  });
});
