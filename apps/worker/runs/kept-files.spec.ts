import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pLimit from 'p-limit';
import { Redactor } from '#lib/session-runtime';
import { refusal } from '../../../libs/hosts/agent-host/testing/refusal.js';
import type { ArtifactFile } from '../api/drover-api.js';
import { KeptFiles } from './kept-files.js';
import { RunFolder } from './run-folder.js';

const SECRET = 'the-secret-of-the-task';
const MIB = 1_048_576;
const log = { debug() {}, info() {}, warn() {}, error() {} };

let top: string;
let folder: RunFolder;
let sent: ArtifactFile[];
let warnings: string[];
/** The sizes of the files that got their own time, and -1 for each wait for other runs. */
let begun: number[];
/** The status and code of a refusal, by the name of the file. */
let refused: Record<string, [status: number, code: string]>;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'drover-kept-'));
  folder = new RunFolder(top, 'run');
  [sent, warnings, refused, begun] = [[], [], {}, []];
  for (const path of [folder.artifacts, folder.work]) mkdirSync(path, { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true }));

function write(path: string, content: string | Uint8Array = 'x'): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

async function keep(isCode?: boolean): Promise<string[]> {
  const ending = new AbortController();
  const saveArtifact = (_: string, file: ArtifactFile) => {
    if (file.name === 'slow') {
      ending.abort();
      return Promise.reject(new Error('aborted'));
    }
    const answer = refused[file.name];
    if (answer) return Promise.reject(refusal(...answer));
    sent.push(file);
    return Promise.resolve();
  };
  const files = new KeptFiles({
    api: { saveArtifact },
    runId: 'run',
    folder,
    redactor: () => new Redactor([SECRET]),
    limit: pLimit(1),
    isCode,
    log,
    warn: (message) => warnings.push(message),
  });
  const begin = (bytes: number) => void begun.push(bytes);
  const wait = () => void begun.push(-1);
  const time = { signal: ending.signal, wait, begin, stop: () => undefined };
  await files.send(new AbortController().signal, time);
  return sent.map(({ name }) => name);
}

test('files of both folders are kept with their types, and those of the artifacts count', async () => {
  write(join(folder.artifacts, 'report/a.html'), '<b>');
  write(join(folder.work, 'report/a.html'), 'a draft');
  write(join(folder.work, 'haiku.txt'), 'queues');
  write(join(folder.work, 'image.bin'), new Uint8Array([0, 255]));
  expect(await keep()).toEqual(['report/a.html', 'haiku.txt', 'image.bin']);
  expect(sent.map(({ type }) => type)).toEqual([
    'text/html; charset=utf-8',
    'text/plain; charset=utf-8',
    'application/octet-stream',
  ]);
  expect(Buffer.from(sent[0]!.content).toString()).toBe('<b>');
  expect(begun).toEqual([-1, 3, -1, 6, -1, 2]);
  expect(warnings).toEqual([]);
});

test('files of programs in the working folder are left out, but not in that of artifacts', async () => {
  for (const name of ['.npm/x', '.bashrc', 'a/.git/config', 'node_modules/m/index.js']) {
    write(join(folder.work, name));
  }
  write(join(folder.work, 'src/.eslintrc'));
  write(join(folder.artifacts, '.config'));
  expect(await keep()).toEqual(['.config', 'src/.eslintrc']);
});

test('a run on code keeps its artifacts, and no file in place of the diff of its change', async () => {
  for (const name of ['change.diff', 'report/change.diff']) write(join(folder.artifacts, name));
  write(join(folder.work, 'a'));
  expect(await keep(true)).toEqual(['report/change.diff']);
  expect(warnings).toEqual([
    expect.stringMatching('A file was not kept: change.diff has the name'),
  ]);
  [sent, warnings] = [[], []];
  expect(await keep()).toContain('change.diff');
});

test('secrets are hidden in texts, and other words stay', async () => {
  const text = `const password: string = '${SECRET}'; // ghp_${'a1'.repeat(18)}`;
  write(join(folder.artifacts, 'a.ts'), text);
  await keep();
  const hidden = `const password: string = '[redacted]'; // [redacted]`;
  expect(Buffer.from(sent[0]!.content).toString()).toBe(hidden);
  expect(warnings).toEqual(['Secrets were hidden in a kept file: a.ts']);
});

test('links out of the folders are not followed', async () => {
  write(join(top, 'host/secret'));
  symlinkSync(join(top, 'host/secret'), join(folder.artifacts, 'link'));
  rmSync(folder.work, { recursive: true });
  symlinkSync(join(top, 'host'), folder.work);
  expect(await keep()).toEqual([]);
});

test('a file that is refused is named, and the others are kept', async () => {
  for (const name of ['a', 'b', 'c', 'd']) write(join(folder.artifacts, name));
  refused = { a: [422, 'artifact_has_secret'], b: [408, 'request_timeout'] };
  expect(await keep()).toEqual(['c', 'd']);
  expect(warnings).toEqual([
    expect.stringMatching('A file was not kept: a: '),
    expect.stringMatching('A file was not kept: b: '),
  ]);
});

test('no further file is sent to a full workspace or of a run that is no longer ours', async () => {
  for (const name of ['a', 'b', 'c']) write(join(folder.artifacts, name));
  refused = { b: [409, 'artifact_quota'] };
  expect(await keep()).toEqual(['a']);
  expect(warnings).toHaveLength(1);
  [sent, warnings, refused] = [[], [], { a: [409, 'stale_run'] }];
  expect(await keep()).toEqual([]);
  expect(warnings).toEqual([]);
});

test('an installation without artifacts is named only to a run that expects them', async () => {
  write(join(folder.work, 'a'));
  refused = { a: [409, 'artifacts_disabled'] };
  await keep();
  expect(warnings).toEqual([]);
  write(join(folder.artifacts, 'a'));
  await keep();
  expect(warnings).toHaveLength(1);
});

test('the working folder has 50 MiB, and a large file leaves room for smaller ones', async () => {
  write(join(folder.work, 'a'), new Uint8Array(30 * MIB));
  write(join(folder.work, 'b'), new Uint8Array(30 * MIB));
  write(join(folder.work, 'c'), new Uint8Array(MIB));
  expect(await keep()).toEqual(['a', 'c']);
  expect(warnings).toEqual([expect.stringMatching('b has more than')]);
});

test('files for which there is no time are named, so that the end of the run is reported', async () => {
  for (const name of ['a', 'slow', 'z']) write(join(folder.artifacts, name));
  write(join(folder.work, 'b'));
  expect(await keep()).toEqual(['a']);
  expect(warnings).toEqual([
    'A file was not kept: slow: the files took too long',
    'A file was not kept: z: the files took too long',
    'A file was not kept: b: the files took too long',
  ]);
});
