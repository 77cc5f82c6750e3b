import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRegularFile, readRegularFileSync } from './regular-file.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-files-'));
  file = join(folder, 'file.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const IRREGULAR = { kind: 'unusable', why: 'is no regular file' };

describe.each([
  ['readRegularFile', readRegularFile],
  ['readRegularFileSync', async (path: string, max: number) => readRegularFileSync(path, max)],
])('%s', (_name, read) => {
  it('the reader reads a file up to the limit, and no more', async () => {
    writeFileSync(file, 'wörds');
    expect(await read(file, 6)).toEqual({ kind: 'text', text: 'wörds' });
    expect(await read(file, 5)).toEqual({ kind: 'unusable', why: 'has more than 5 bytes' });
    writeFileSync(file, '');
    expect(await read(file, 5)).toEqual({ kind: 'text', text: '' });
    expect(await read(join(folder, 'gone'), 5)).toEqual({ kind: 'absent' });
  });

  it('the reader ignores the reported size: a file of size 0 can be long', async () => {
    expect(await read('/proc/self/status', 100)).toMatchObject({ why: 'has more than 100 bytes' });
  });

  it('the reader follows no link', async () => {
    symlinkSync('/dev/zero', file);
    expect(await read(file, 5)).toEqual({ kind: 'unusable', why: 'is a symbolic link' });
  });

  it('the reader does not wait for the writer of a pipe', async () => {
    execFileSync('mkfifo', [file]);
    expect(await read(file, 5)).toEqual(IRREGULAR);
  });

  it('the reader accepts neither a folder nor a socket', async () => {
    mkdirSync(file);
    expect(await read(file, 5)).toEqual(IRREGULAR);
    const socket = createServer().listen(join(folder, 'socket'));
    await once(socket, 'listening');
    expect(await read(join(folder, 'socket'), 5)).toEqual(IRREGULAR);
    const below = await read(join(folder, 'socket', 'below'), 5);
    expect(below).toEqual({ kind: 'unusable', why: 'is unreadable (ENOTDIR)' });
    socket.close();
  });
});
