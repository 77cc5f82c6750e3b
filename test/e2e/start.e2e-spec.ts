import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'iovalkey';
import { freePort } from '#lib/local-servers';
import { newId } from '#lib/kernel';
import { type ApiClient, apiClient } from '../support/api-client.js';
import { numbersIn } from '../support/marks.js';
import { waitFor } from '../support/wait-for.js';
import { processesWith, Program } from './program.js';

const START = join(process.cwd(), 'dist/tools/start/main.js');
const CLI = join(process.cwd(), 'dist/apps/cli/main.js');

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

async function start(): Promise<string> {
  started = new Program(START, [], { DROVER_HOME: home, TMPDIR: home, PORT: '' });
  const [, address = ''] = await started.says(/Drover runs at +(\S+)\s[^]*the data stays/);
  return address;
}

/** Returns the Drover that the last test has left running, or a new one. */
async function running(): Promise<string> {
  const address = left;
  left = undefined;
  return address ?? start();
}

async function stop(): Promise<void> {
  started?.kill('SIGINT');
  expect(await started?.ended).toBe(130);
  await waitFor('the last process', () => processesWith(home).length === 0);
}

function pasteCommand(): string {
  const line = /npx drover .*/.exec(started?.output ?? '')?.[0] ?? '';
  const env = { ...process.env, DROVER_HOME: home };
  return execFileSync('sh', ['-c', line], { encoding: 'utf8', env });
}

function pasteCurl(): { id: string } {
  const line = /curl .*/.exec(started?.output ?? '')?.[0] ?? '';
  return JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8' })) as { id: string };
}

/** The client uses the key that the printed line names. */
function apiAt(address: string): ApiClient {
  const key = readFileSync(join(home, 'api-key'), 'utf8').trim();
  return apiClient(address, { authorization: `Bearer ${key}` });
}

async function untilCompleted(address: string, id: string): Promise<void> {
  const api = apiAt(address);
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

interface Mark {
  file: string;
  /** The start time of this attempt. Process ids are the same in every sandbox. */
  life: number;
  /** The number that the attempt found in its checkpoint. */
  n: number;
}

/**
 * Waits for the mark of an attempt other than `earlier`. Each attempt leaves one in its own folder.
 */
function nextMark(name: string, earlier?: Mark): Promise<Mark> {
  return waitFor(`a mark of ${name}`, () => {
    const marks = workFolders().map((folder) => {
      const file = join(folder, `${name}.mark`);
      const [life = 0, n = 0] = numbersIn(file) ?? [];
      return { file, life, n };
    });
    return marks.find(({ life }) => life !== 0 && life !== earlier?.life);
  });
}

/** Returns the folders of all runs and sessions. They can write to no others. */
function workFolders(): string[] {
  return ['worker-1/runs', 'worker-2/runs', 'gateway/sessions']
    .map((folder) => join(home, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((id) => join(folder, id, 'work')));
}

/**
 * @returns the error code; undefined if the address was free
 */
function listenAt(host: string, port: string): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen(Number(port), host, () => server.close(() => resolve(undefined)));
  });
}

/**
 * After a stop, another program can listen on the port. The command line does not connect to it.
 */
async function expectNoCredentialsAt(address: string): Promise<void> {
  let connections = 0;
  const taker = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await once(taker.listen(Number(new URL(address).port), '127.0.0.1'), 'listening');
  const cli = new Program(CLI, ['task', 'list'], { DROVER_HOME: home, HOME: home });
  expect([await cli.ended, cli.output]).toEqual([6, expect.stringContaining('cannot be reached')]);
  expect(connections).toBe(0);
  await once(taker.close(), 'close');
}

/** The words of the workers in the file of heartbeats. */
function slots(): string {
  const text = readFileSync(join(home, 'worker-heartbeats.json'), 'utf8');
  const { workers } = JSON.parse(text) as { workers: Record<string, { status: string }> };
  return ['worker-1', 'worker-2'].map((name) => workers[name]?.status).join(' ');
}

/** Programs beside the server find the state of the workers in Valkey. */
async function expectViewsOfWorkers(): Promise<void> {
  const valkey = new Redis(readFileSync(join(home, 'server-secrets', 'VALKEY_URL'), 'utf8').trim());
  try {
    await waitFor('the views of both workers', async () => {
      const keys = await valkey.keys('agent:status:*');
      const found = await Promise.all(keys.map((key) => valkey.hget(key, 'status')));
      return found.filter((status) => status === 'IDLE').length >= 2;
    });
  } finally {
    await valkey.quit();
  }
}

describe('npm start', () => {
  test('npm start works as its output says, and keeps its data until the next start', async () => {
    const address = await start();
    expect(started?.output).toMatch(/applying \d+ migrations, from \S+ to \S+\n(?!applying)/);
    expect(pasteCommand()).toBe('hello\n');
    const { id } = pasteCurl();
    await untilCompleted(address, id);
    expect(await signIn(address)).toBe(200);
    expect((await fetch(`${address}/docs`)).status).toBe(200);
    const readable = readdirSync(home, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .filter((entry) => (statSync(join(home, entry.name)).mode & 0o077) !== 0);
    expect(readable.map((entry) => entry.name)).toEqual([]);
    await waitFor('the heartbeats of both workers', () => Promise.resolve(slots() === 'idle idle'));
    await expectViewsOfWorkers();
    await stop();
    expect(slots()).toBe('offline offline');
    await expectNoCredentialsAt(address);
    expect(await start()).toBe(address);
    await untilCompleted(address, id);
    expect(await signIn(address)).toBe(200);
    await untilCompleted(address, pasteCurl().id);
    left = address;
  });

  test('npm start restarts a killed server, a killed worker and a killed gateway', async () => {
    const address = await running();
    const programs = ['apps/server/main.js', 'apps/worker/main.js', 'apps/gateway/main.js'];
    for (const program of programs) {
      const line = processesWith(home).find((process) => process.includes(program)) ?? '';
      process.kill(Number(line.split(' ')[0]), 'SIGKILL');
    }
    const { port } = new URL(address);
    expect(await Promise.all(['127.0.0.1', '::1'].map((host) => listenAt(host, port)))).toEqual([
      'EADDRINUSE',
      'EADDRINUSE',
    ]);
    // The connection waits for the next server.
    const [answer] = await once(get(`${address}/healthz`, { agent: false }), 'response');
    expect((answer as IncomingMessage).statusCode).toBe(200);
    await started?.says(/server ended, and is started again in 0.5 s/);
    await started?.says(/gateway ended, and is started again in 0.5 s/);
    await started?.says(/worker-\d ended, and is started again in 0.5 s/);
    await waitFor('the server', () =>
      fetch(`${address}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    await untilCompleted(address, pasteCurl().id);
    left = address;
  });

  /** Counts until it is released, and saves the count when it is asked to end. */
  async function aLongTask(address: string, name: string): Promise<string> {
    const script = `
      const fs = require('fs');
      const file = process.env.DROVER_CHECKPOINT_FILE;
      const { n = 0 } = JSON.parse(fs.readFileSync(file, 'utf8'));
      fs.writeFileSync('${name}.mark', Math.random() + ' ' + n + '\\n');
      process.on('SIGTERM', () => {
        fs.writeFileSync(file, JSON.stringify({ n: n + 1 }));
        process.exit(0);
      });
      setInterval(() => { if (fs.existsSync('${name}.mark.go')) process.exit(0); }, 20);`;
    const { status, body } = await apiAt(address).post<{ id: string }>('/agent-tasks', {
      title: 'A long task',
      taskType: 'test',
      retryBackoffSeconds: 0,
      inputContext: { command: [process.execPath, '-e', script] },
    });
    expect(status).toBe(201);
    return body.id;
  }

  /** Its sessions act like a long task's process, through their own reports. */
  async function aLongSession(address: string, name: string): Promise<string> {
    const script = `
      const fs = require('fs');
      const { DROVER_API_URL: url, DROVER_RUN_TOKEN: token, DROVER_RUN_ID: run } = process.env;
      const { task } = JSON.parse(fs.readFileSync(process.env.DROVER_TASK_FILE, 'utf8'));
      const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
      const call = (method, path, body) =>
        fetch(url + '/runs/' + run + '/' + path, { method, headers, body: JSON.stringify(body) });
      const { n = 0 } = task.checkpointData;
      call('POST', 'start', {}).then(() =>
        fs.writeFileSync('${name}.mark', Math.random() + ' ' + n + '\\n'));
      process.on('SIGTERM', () =>
        call('PUT', 'checkpoint', { checkpointData: { n: n + 1 } }).then(() => process.exit(0)));
      const timer = setInterval(() => {
        if (!fs.existsSync('${name}.mark.go')) return;
        clearInterval(timer);
        call('POST', 'complete', { outputResult: { n } }).then(() => process.exit(0));
      }, 20);`;
    const api = apiAt(address);
    const { status } = await api.put(`/agents/${newId()}`, {
      name: `Pushed ${name}`,
      mode: 'push',
      command: [process.execPath, '-e', script],
      capabilities: [name],
    });
    expect(status).toBe(201);
    const { body } = await api.post<{ id: string }>('/agent-tasks', {
      title: 'A long session',
      taskType: 'test',
      requiredCapabilities: [name],
      retryBackoffSeconds: 0,
    });
    return body.id;
  }

  async function expectToGoOn(address: string, id: string, { file }: Mark) {
    writeFileSync(`${file}.go`, '');
    await untilCompleted(address, id);
    const { body } = await apiAt(address).get(`/agent-tasks/${id}`);
    return body;
  }

  test('npm start ends with running tasks and sessions, and the next start resumes them', async () => {
    const address = await running();
    const quick = await aLongSession(address, 'quick');
    await expectToGoOn(address, quick, await nextMark('quick'));
    const names = ['one', 'two', 'three', 'pushed'];
    const make = (name: string) =>
      name === 'pushed' ? aLongSession(address, name) : aLongTask(address, name);
    const tasks = await Promise.all(names.map(make));
    const marks = await Promise.all(names.map((name) => nextMark(name)));
    started?.kill('SIGTERM');
    const code = await Promise.race([started?.ended, delay(30_000, 'too late', { ref: false })]);
    expect(code).toBe(143);
    expect(processesWith(home)).toEqual([]);
    expect(await start()).toBe(address);
    for (const [index, name] of names.entries()) {
      const mark = await nextMark(name, marks[index]);
      expect(mark.n).toBe(1);
      const task = await expectToGoOn(address, tasks[index] ?? '', mark);
      expect(task).toMatchObject({ generation: 2, retryCount: 0 });
    }
    left = address;
  });

  test('npm start ends at once after a second signal and loses nothing', async () => {
    const address = await running();
    const task = await aLongTask(address, 'last');
    const first = await nextMark('last');
    started?.kill('SIGTERM');
    // An immediate second signal is the same Ctrl-C, passed on by npm.
    await delay(1_500);
    started?.kill('SIGTERM');
    expect(await started?.ended).toBe(143);
    await waitFor('the last process', () => processesWith(home).length === 0);
    expect(await start()).toBe(address);
    const second = await nextMark('last', first);
    expect(await expectToGoOn(address, task, second)).toMatchObject({ generation: 2 });
    await stop();
  });

  test('npm start starts no gateway if one is configured, and names missing settings of it', async () => {
    const env = { DROVER_HOME: home, TMPDIR: home, PORT: '', GATEWAY_URL: 'http://127.0.0.1:9' };
    started = new Program(START, [], env);
    expect(await started.ended).toBe(1);
    expect(started.output).toBe(
      'GATEWAY_URL is set and GATEWAY_SECRET is not: set both for a gateway of your own, or neither, and one is started here.\n',
    );
    started = new Program(START, [], { ...env, GATEWAY_SECRET: 'short' });
    expect(await started.ended).toBe(1);
    expect(started.output).toBe('GATEWAY_SECRET must have at least 32 characters.\n');
    const secret = { GATEWAY_SECRET: 'x'.repeat(32) };
    started = new Program(START, [], { ...env, ...secret, LOG_LEVEL: 'loud' });
    expect(await started.ended).toBe(1);
    expect(started.output).toMatch(
      /these environment variables:\n {2}LOG_LEVEL: must be one of fatal,.*\n$/,
    );
    started = new Program(START, [], { ...env, ...secret, VALKEY_URL: 'redis://127.0.0.1:1' });
    await started.says(/Nobody answers at VALKEY_URL \(127.0.0.1:1\)/);
    await started.says(/gateway at http:\/\/127.0.0.1:9\n[^]*the data stays/);
    expect(processesWith(home).filter((line) => line.includes('apps/gateway'))).toEqual([]);
    await stop();
  });

  test('npm start reports a taken port in a sentence', async () => {
    const other = await listening();
    const { port } = other.address() as AddressInfo;
    started = new Program(START, [], { DROVER_HOME: home, PORT: String(port) });
    expect(await started.ended).toBe(1);
    expect(started.output).toBe(
      `Another program listens on port ${port}: stop it, or set PORT to a free one.\n`,
    );
    other.close();
  });
});

function listening(): Promise<Server> {
  const server = createServer();
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
