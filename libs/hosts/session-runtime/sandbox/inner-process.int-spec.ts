import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { waitFor } from '../../../../test/support/wait-for.js';
import { killMarked, processesWith, uniqueSeconds } from '../testing/processes.js';
import { encodeOrder, type InnerAnswer, type InnerOrder } from './inner-order.js';
import { callsOf, innerCommand } from './inner-process.js';

const CHANNEL = 3;
const [perl = '', ...args] = innerCommand('');
const folder = mkdtempSync(join(tmpdir(), 'drover-inner-'));
const socket = join(folder, 'service');
const children: ChildProcess[] = [];
let service: Server;
let port: number;

/** A first process without a sandbox around it, and its command. */
function start(script: string, more: Partial<InnerOrder> = {}) {
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const;
  const inner = spawn(perl, args, { env: {}, stdio: [...stdio] });
  children.push(inner);
  const channel = inner.stdio[CHANNEL] as Duplex;
  const lines = createInterface({ input: channel })[Symbol.asyncIterator]();
  channel.write(
    encodeOrder({
      program: '/bin/sh',
      command: ['sh', '-c', script],
      env: { PATH: process.env['PATH'] ?? '' },
      cwd: '/',
      services: [],
      calls: callsOf(process.arch),
      ...more,
    }),
  );
  const answer = async () => JSON.parse((await lines.next()).value as string) as InnerAnswer;
  return { inner, channel, answer };
}

/** The end of a command and its output. */
async function endOf(script: string, more?: Partial<InnerOrder>) {
  const { inner, channel, answer } = start(script, more);
  const output = text(inner.stdout as Duplex);
  expect(await answer()).toEqual({ started: expect.any(Number) });
  channel.write('\n');
  const end = await answer();
  channel.destroy();
  return { ...end, output: await output };
}

beforeAll(async () => {
  service = createServer({ allowHalfOpen: true }, (connection) => {
    connection.on('error', () => undefined).pipe(connection);
  }).listen(socket);
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  ({ port } = free.address() as AddressInfo);
  free.close();
  await once(free, 'close');
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});

afterAll(() => {
  killMarked();
  service.close();
  rmSync(folder, { recursive: true });
});

test('the text of the first process is strict and has no warning', () => {
  const check = ['-Mstrict', '-wc', '-e', args.at(-1) ?? ''];
  const script = '"$0" "$@" 2>&1';
  expect(execFileSync('sh', ['-c', script, perl, ...check], { encoding: 'utf8' })).toBe(
    '-e syntax OK\n',
  );
});

test('the first process of a sandbox prints nothing after its host is gone', async () => {
  const seconds = uniqueSeconds();
  const { inner, channel, answer } = start(`sleep ${seconds} >&- 2>&- & exit 9`);
  const printed = Promise.all([text(inner.stdout as Duplex), text(inner.stderr as Duplex)]);
  const ended = once(inner, 'exit');
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

test('a command has its own session, the usual signals, and no descriptor of the first process', async () => {
  // The shell looks at itself without a child: it blocks signals around the start of one.
  const script = `
    echo /proc/self/fd/*
    read -r pid _ _ _ _ session _ </proc/self/stat; echo $pid $session
    while read -r name value; do
      case $name in SigBlk:|SigIgn:) echo $value ;; esac
    done </proc/self/status`;
  const { output } = await endOf(script);
  const [files, ids = '', blocked, ignored] = output.split('\n');
  // The last number is that of the folder itself.
  expect(files).toBe('/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3');
  const [pid, session] = ids.split(' ');
  expect(session).toBe(pid);
  expect(blocked).toMatch(/^0+$/);
  expect(ignored).toMatch(/^0+$/);
});

test.each([
  ['exit 137', { exitCode: 137, signal: null }],
  ['kill -9 $$', { exitCode: null, signal: 9 }],
  ['kill -35 $$', { exitCode: null, signal: 35 }],
  // Another process keeps the command's files.
  [`sleep ${uniqueSeconds()} >&- 2>&- & exit 3`, { exitCode: 3, signal: null }],
])('the first process reports the end of `%s` exactly', async (script, exited) => {
  expect(await endOf(script)).toMatchObject({ exited });
});

test.each([
  ['is missing', { program: join(folder, 'none') }, 2],
  ['cannot be executed', { program: '/etc/passwd' }, 13],
  ['has no working directory', { cwd: join(folder, 'none') }, 'cwd'],
])('a command that %s has not started', async (_, more, failed) => {
  const { inner, answer } = start('true', more);
  expect(await answer()).toEqual({ failed });
  expect(await once(inner, 'exit')).toEqual([0, null]);
});

test.each<[string, Partial<InnerOrder>]>([
  ['an argument', { command: ['sh', 'a\0b'] }],
  ['a variable', { env: { A: 'a\0b' } }],
])('%s with a NUL character is refused', (_, more) => {
  expect(() => start('true', more)).toThrow('has a NUL character');
});

test('a first process does not die of signals that mean its command', async () => {
  const names = ['HUP', 'INT', 'QUIT', 'PIPE', 'TERM', 'USR1', 'USR2'];
  const script = `for name in ${names.join(' ')}; do kill -$name $PPID; done; exit 5`;
  expect(await endOf(script)).toMatchObject({ exited: { exitCode: 5, signal: null } });
});

test('a service gets large amounts both ways, half-open connections, and 64 of them', async () => {
  const services = [{ port, socket }];
  const { inner, channel, answer } = start(`sleep ${uniqueSeconds()}`, { services });
  expect(await answer()).toEqual({ started: expect.any(Number) });
  channel.write('\n');
  const open = (allowHalfOpen = true) => connect({ port, host: '127.0.0.1', allowHalfOpen });
  const sent = randomBytes(8_000_000);
  const large = open();
  large.end(sent);
  // The echo waits meanwhile, so both sides fill up.
  large.pause();
  await waitFor('both sides to fill up', () => large.bytesWritten > 0);
  expect((await buffer(large)).equals(sent)).toBe(true);

  const many = Array.from({ length: 64 }, () => open());
  const echo = async (one: ReturnType<typeof open>) => {
    one.write('x');
    return String((await once(one, 'data'))[0]);
  };
  expect(await Promise.all(many.map(echo))).toEqual(many.map(() => 'x'));
  const refused = open(false).on('error', () => undefined);
  refused.resume();
  await once(refused, 'close');
  many[0]?.resetAndDestroy();
  await waitFor('a place to be free', async () => {
    const next = open(false).on('error', () => undefined);
    const closed = once(next, 'close').then(() => '');
    const answered = await Promise.race([echo(next), closed]).catch(() => '');
    next.destroy();
    return answered === 'x';
  });
  const gone = Promise.all(many.slice(1).map((one) => once(one.resume(), 'close')));
  channel.destroy();
  await once(inner, 'exit');
  for (const one of many) one.on('error', () => undefined).end();
  await gone;
});
