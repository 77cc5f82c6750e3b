import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiClient } from '../support/api-client.js';
import { waitFor } from '../support/wait-for.js';
import { processesWith, Program } from './program.js';

const START = join(process.cwd(), 'dist/tools/start/main.js');

let home: string;
let started: Program | undefined;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'drover-e2e-'));
  chmodSync(home, 0o755);
});

afterEach(async () => {
  started?.kill('SIGKILL');
  await started?.ended;
  await waitFor('the last process', () => processesWith(home).length === 0, 30_000);
  rmSync(home, { recursive: true, force: true });
});

async function start(): Promise<string> {
  started = new Program(START, [], { DROVER_HOME: home, TMPDIR: home, PORT: '' });
  const [, address = ''] = await started.says(/Drover runs at +(\S+)[^]*the data stays/);
  return address;
}

async function stop(): Promise<void> {
  started?.kill('SIGINT');
  expect(await started?.ended).toBe(130);
  await waitFor('the last process', () => processesWith(home).length === 0, 15_000);
}

function pasteCurl(): { id: string } {
  const line = /curl .*/.exec(started?.output ?? '')?.[0] ?? '';
  return JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8' })) as { id: string };
}

/** Reads a task with the key that the printed line uses. */
async function untilCompleted(address: string, id: string): Promise<void> {
  const key = readFileSync(join(home, 'api-key'), 'utf8').trim();
  const api = apiClient(address, { authorization: `Bearer ${key}` });
  await waitFor('the task to complete', async () => {
    const { body } = await api.get<{ status: string }>(`/agent-tasks/${id}`);
    return body.status === 'COMPLETED';
  });
}

async function signIn(address: string): Promise<number> {
  const file = readFileSync(join(home, 'administrator.json'), 'utf8');
  const credentials = JSON.parse(file) as Record<string, string>;
  return (await apiClient(address, {}).post('/auth/login', credentials)).status;
}

describe('npm start', () => {
  test('works as it says it does, and keeps its data until the next start', async () => {
    const address = await start();
    const { id } = pasteCurl();
    await untilCompleted(address, id);
    expect(await signIn(address)).toBe(200);
    expect((await fetch(`${address}/docs`)).status).toBe(200);
    const readable = readdirSync(home, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .filter((entry) => (statSync(join(home, entry.name)).mode & 0o077) !== 0);
    expect(readable.map((entry) => entry.name)).toEqual([]);
    await stop();
    expect(await start()).toBe(address);
    await untilCompleted(address, id);
    expect(await signIn(address)).toBe(200);
    await untilCompleted(address, pasteCurl().id);
    await stop();
  }, 120_000);

  test('starts a killed server and a killed worker again', async () => {
    const address = await start();
    const programs = ['apps/server/main.js', 'apps/worker/main.js'];
    for (const program of programs) {
      const line = processesWith(home).find((process) => process.includes(program)) ?? '';
      process.kill(Number(line.split(' ')[0]), 'SIGKILL');
    }
    await started?.says(/server ended, and is started again in 0.5 s/);
    await started?.says(/worker-\d ended, and is started again in 0.5 s/);
    await waitFor('the server', () =>
      fetch(`${address}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    await untilCompleted(address, pasteCurl().id);
    await stop();
  }, 120_000);

  test('says in a sentence that the port is taken', async () => {
    const other = await listening();
    const { port } = other.address() as AddressInfo;
    started = new Program(START, [], { DROVER_HOME: home, PORT: String(port) });
    expect(await started.ended).toBe(1);
    expect(started.output).toBe(
      `Another program listens on port ${port}: stop it, or set PORT to a free one.\n`,
    );
    other.close();
  });

  test('says in a sentence that it runs in the folder already, and where', async () => {
    const address = await start();
    const second = new Program(START, [], { DROVER_HOME: home, PORT: '' });
    expect(await second.ended).toBe(1);
    expect(second.output).toBe(
      `Drover already runs in ${home}, at ${address}: use that one, or stop it with Ctrl-C where it was started.\n`,
    );
    await stop();
  }, 90_000);
});

function listening(): Promise<Server> {
  const server = createServer();
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
