import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#lib/local-servers';
import { waitFor } from '../support/wait-for.js';
import { processesWith, Program } from './program.js';

/**
 * Tests unexpected ends of the stack of `npm start`, and the next start after them. In the
 * background the stack is the one of `drover up`: see cli-stack.
 */

const START = join(process.cwd(), 'dist/tools/start/main.js');
const RUNS = /Drover runs at +(\S+)\s[^]*the data stays/;

/**
 * All tests share one folder: a database is created once, and each test leaves one that the next
 * can start with.
 */
let home: string;
let started: Program | undefined;
/**
 * The address of a Drover that a test has left running for the next one, which does not test the
 * start.
 */
let left: string | undefined;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'drover-e2e-'));
  chmodSync(home, 0o755);
  writeFileSync(join(home, 'port'), String(await freePort()), { mode: 0o600 });
});

afterEach(async () => {
  if (left === undefined) await end();
});

afterAll(async () => {
  await end();
  rmSync(home, { recursive: true, force: true });
});

async function end(): Promise<void> {
  started?.kill('SIGKILL');
  await started?.ended;
  await waitFor('the last process', () => processesWith(home).length === 0);
}

function program(script: string, port: string, command?: string): Program {
  const env = { DROVER_HOME: home, TMPDIR: home, PORT: port };
  return new Program(script, [], env, undefined, command);
}

async function start(port = ''): Promise<string> {
  started = program(START, port);
  const [, address = ''] = await started.says(RUNS);
  return address;
}

describe('npm start', () => {
  test('npm start is known while it creates its database, and a stop ends it', async () => {
    started = program(START, '');
    await waitFor('initdb', () => processesWith(home).some((line) => line.includes('initdb')));
    const env = { DROVER_HOME: home };
    expect(await new Program(START, ['status'], env).ended).toBe(4);
    const stop = new Program(START, ['stop'], env);
    expect([await stop.ended, stop.output]).toEqual([0, expect.stringContaining('has stopped')]);
    expect(await started.ended).toBe(143);
    expect(processesWith(home)).toEqual([]);
  });

  test('npm start uses another port if a program takes its port while the database starts', async () => {
    const taker = createServer();
    await once(taker.listen(0, '127.0.0.1'), 'listening');
    const { port } = taker.address() as AddressInfo;
    await once(taker.close(), 'close');
    writeFileSync(join(home, 'port'), `${port}\n`);
    started = program(START, '');
    // The port is chosen by then. The test before decides whether migrations are pending.
    await waitFor('Postgres', () => processesWith(home).some((line) => /postgres -D/.test(line)));
    taker.listen(port, '127.0.0.1');
    const [, address = ''] = await started.says(RUNS);
    taker.close();
    expect(new URL(address).port).not.toBe(String(port));
    left = address;
  });

  test('npm start after kill -9 waits for leftovers and starts at the same address', async () => {
    const address = left ?? (await start());
    left = undefined;
    // The server then ends late, and keeps the port until its end.
    const server = processesWith(home).find((line) => line.includes('apps/server/main.js')) ?? '';
    process.kill(parseInt(server), 'SIGSTOP');
    started?.kill('SIGKILL');
    await started?.ended;
    expect(await start(new URL(address).port)).toBe(address);
    expect(started?.output).toMatch(/was ended by force: waiting until all that it left has ended/);
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'npm start ends with its npm, after %s',
    async (signal) => {
      started = program('start', '', 'npm');
      await started.says(RUNS);
      started.kill(signal);
      await waitFor('the last process', () => processesWith(home).length === 0);
    },
  );
});
