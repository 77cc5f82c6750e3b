import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendSignal } from './signals-file.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-signals-'));
  file = join(folder, 'signals.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const WARNING = { action: 'warn', reason: 'hung' } as const;

describe('appendSignal', () => {
  it('the signals file gets lines, and only its user can read it', () => {
    expect(appendSignal(file, WARNING)).toBe(true);
    expect(appendSignal(file, { action: 'stop', reason: 'drain', graceSeconds: 5 })).toBe(true);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { action: 'warn', reason: 'hung', at: expect.any(String) },
      { action: 'stop', reason: 'drain', graceSeconds: 5, at: expect.any(String) },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('a link that the session puts in its place is not followed', () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'as it was');
    symlinkSync(other, file);
    expect(appendSignal(file, WARNING)).toBe(false);
    expect(readFileSync(other, 'utf8')).toBe('as it was');
  });

  it('a signals file with a second name is not written', () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'as it was');
    linkSync(other, file);
    expect(appendSignal(file, WARNING)).toBe(false);
    expect(readFileSync(other, 'utf8')).toBe('as it was');
  });

  it('a pipe without a reader delays nobody, and a missing folder is no error', () => {
    execFileSync('mkfifo', [file]);
    expect(appendSignal(file, WARNING)).toBe(false);
    expect(appendSignal(join(folder, 'gone', 'signals'), WARNING)).toBe(false);
  });
});
