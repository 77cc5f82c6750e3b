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
  it('adds lines, in a file that only its user reads', () => {
    expect(appendSignal(file, WARNING)).toBe(true);
    expect(appendSignal(file, { action: 'stop', reason: 'drain', graceSeconds: 5 })).toBe(true);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { action: 'warn', reason: 'hung', at: expect.any(String) },
      { action: 'stop', reason: 'drain', graceSeconds: 5, at: expect.any(String) },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('writes through no link that the session has put there', () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'as it was');
    symlinkSync(other, file);
    expect(appendSignal(file, WARNING)).toBe(false);
    expect(readFileSync(other, 'utf8')).toBe('as it was');
  });

  it('writes to no file that has a second name', () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'as it was');
    linkSync(other, file);
    expect(appendSignal(file, WARNING)).toBe(false);
    expect(readFileSync(other, 'utf8')).toBe('as it was');
  });

  it('does not wait for the reader of a pipe, nor fail for a folder that is gone', () => {
    execFileSync('mkfifo', [file]);
    expect(appendSignal(file, WARNING)).toBe(false);
    expect(appendSignal(join(folder, 'gone', 'signals'), WARNING)).toBe(false);
  });
});
