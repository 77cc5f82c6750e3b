import { afterAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { waitFor } from '../../../../test/support/wait-for.js';
import { killMarked, processesWith, uniqueSeconds } from '../testing/processes.js';
import type { InnerOrder } from './inner-order.js';

const INNER = join(
  import.meta.dirname,
  '../../../../dist/libs/hosts/session-runtime/sandbox/inner-process.js',
);
const CHANNEL = 3;

afterAll(killMarked);

test('the first process of a sandbox prints nothing after its host is gone', async () => {
  const seconds = uniqueSeconds();
  const inner = spawn(process.execPath, [INNER], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const printed = Promise.all([text(inner.stdout as Duplex), text(inner.stderr as Duplex)]);
  const ended = once(inner, 'exit');
  const channel = inner.stdio[CHANNEL] as Duplex;
  const lines = createInterface({ input: channel })[Symbol.asyncIterator]();
  const answer = async () => JSON.parse((await lines.next()).value as string) as unknown;
  const order: InnerOrder = {
    program: '/bin/sh',
    command: ['sh', '-c', `sleep ${seconds} >&- 2>&- & exit 9`],
    env: process.env as Record<string, string>,
    cwd: '/',
    services: [],
  };
  channel.write(`${JSON.stringify(order)}\n`);
  expect(await answer()).toEqual({ started: expect.any(Number) });
  channel.write('\n');
  expect(await answer()).toEqual({ exited: { exitCode: 9, signal: null } });

  // After SIGCONT it learns two things at once: the last process has ended, and nobody listens.
  inner.kill('SIGSTOP');
  const stat = `/proc/${inner.pid}/stat`;
  await waitFor('it to stand still', () => readFileSync(stat, 'utf8').includes(') T '));
  killMarked();
  await waitFor('the last process to end', () => processesWith(seconds).length === 0);
  channel.destroy();
  await once(channel, 'close');
  inner.kill('SIGCONT');
  expect(await printed).toEqual(['', '']);
  expect(await ended).toEqual([0, null]);
});
