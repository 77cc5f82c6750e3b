import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamsEnd } from './streams-end.js';

/** Longer than `streamsEnd` waits for a silent stream. */
const STALL_MS = 1_500;

/** Stops this process, as a slow machine does, at least until the file exists. */
function stallUntil(file: string): void {
  const begun = performance.now();
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(file) || performance.now() - begun < STALL_MS) Atomics.wait(cell, 0, 0, 50);
}

function outputOf(script: string) {
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  const read = { text: '' };
  child.stdout.on('data', (data: Buffer) => (read.text += data.toString()));
  return { child, closed, read, streams: [child.stdout, child.stderr] };
}

test('the last words of a process are read after a stall that is longer than the wait', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drover-stall-'));
  const written = join(folder, 'written');
  const { closed, read, streams } = outputOf(`echo last words; : > ${written}`);
  const ended = streamsEnd(closed, streams);
  stallUntil(written);
  await ended;
  rmSync(folder, { recursive: true });
  expect(read.text).toBe('last words\n');
});

test('a process that holds the streams and says nothing is not awaited', async () => {
  const { child, closed, streams } = outputOf('exec sleep 60');
  await streamsEnd(closed, streams);
  child.kill('SIGKILL');
  await closed;
});
