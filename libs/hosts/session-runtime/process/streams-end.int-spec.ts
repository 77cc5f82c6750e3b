import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { streamsEnd } from './streams-end.js';

/** Stops this process, as a slow machine does. */
function stall(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function outputOf(script: string) {
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  const read = { text: '' };
  child.stdout.on('data', (data: Buffer) => (read.text += data.toString()));
  return { child, closed, read, streams: [child.stdout, child.stderr] };
}

test('the last words of a process are read after a stall that is longer than the wait', async () => {
  const { closed, read, streams } = outputOf('sleep 0.2; echo last words');
  const ended = streamsEnd(closed, streams);
  stall(1_500);
  await ended;
  expect(read.text).toBe('last words\n');
});

test('a process that holds the streams and says nothing is not awaited', async () => {
  const { child, closed, streams } = outputOf('exec sleep 60');
  await streamsEnd(closed, streams);
  child.kill('SIGKILL');
  await closed;
});
