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

describe('The end of a run that an earlier version could not deliver', () => {
  const writeEnd = (content: string) =>
    writeFileSync(join(folder.root, 'final-report.json'), content);

  test('the undelivered end is read', async () => {
    writeEnd(JSON.stringify(REPORT));
    expect(await folder.readReport()).toEqual(REPORT);
  });

  test('a file with an unknown kind of end is ignored', async () => {
    writeEnd('{"kind":"../../agents/x/deregister"}');
    expect(await folder.readReport()).toBeUndefined();
  });
});
