import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '#lib/local-servers';
import { apiClient, type ApiClient } from '../support/api-client.js';
import { olderNode } from '../support/older-node.js';
import { waitFor } from '../support/wait-for.js';
import { processesWith, Program } from './program.js';

/** The npm packages in folders that have nothing else, as their users install them. */

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
let top: string;
let tarballs: string;
let nodes: Record<20 | 22 | 24, string>;

const environment = () => ({
  PATH: process.env['PATH'] ?? '',
  HOME: top,
  TMPDIR: top,
  DROVER_HOME: join(top, 'home'),
});

/** Installs packages into an empty folder. @returns the folder */
async function install(name: string, ...packages: string[]): Promise<string> {
  const folder = join(top, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const all = readdirSync(tarballs).filter((file) => file.endsWith('.tgz'));
  const files = packages.map((one) => all.find((file) => file.startsWith(`drover-${one}-`)) ?? one);
  const paths = files.map((file) => join(tarballs, file));
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...paths], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return folder;
}

const binOf = (folder: string, name: string) => join(folder, 'node_modules/.bin', name);

beforeAll(async () => {
  nodes = { 20: await olderNode(20), 22: await olderNode(22), 24: process.execPath };
  top = mkdtempSync(join(tmpdir(), 'drover-packages-'));
  // The account of Postgres must be able to enter the folder.
  chmodSync(top, 0o755);
  // The Valkey that other tests have fetched.
  mkdirSync(join(top, '.cache/drover'), { recursive: true });
  symlinkSync(join(root, '.cache/valkey'), join(top, '.cache/drover/valkey'));
  tarballs = join(root, 'dist/packages');
  await run(process.execPath, [join(root, 'scripts/packages.mjs')], { cwd: root });
  await Promise.all([
    install('cli', 'cli'),
    install('client', 'client'),
    install('worker', 'client', 'worker'),
    install('server', 'server'),
  ]);
  const compilerOptions = {
    strict: true,
    target: 'ES2023',
    module: 'nodenext',
    lib: ['ES2023', 'DOM'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    rootDir: '.',
  };
  writeFileSync(join(top, 'worker/agent.ts'), AGENT);
  writeFileSync(join(top, 'worker/tsconfig.json'), JSON.stringify({ compilerOptions }));
  writeFileSync(join(top, 'client/create.js'), CREATE);
}, 300_000);
afterAll(() => rmSync(top, { recursive: true, force: true }));

const AGENT = `import { FinalError, type TaskHandler, Worker } from '@drover/worker';

const double: TaskHandler<{ number?: number }> = async (task, ctx) => {
  const { number } = task.inputContext;
  if (number === undefined) throw new FinalError('no number');
  await ctx.checkpoint({ seen: true });
  return { doubled: 2 * number };
};
await new Worker({ tasks: { double }, dataDir: process.env['DATA'] ?? '' }).run();
`;

const CREATE = `import { bearer, createClient } from '@drover/client';

const drover = createClient({
  baseUrl: process.env.DROVER_URL,
  credentials: bearer(process.env.DROVER_API_KEY),
});
const body = { title: 'Double', taskType: 'double', inputContext: { number: 21 } };
console.log((await drover.post('/api/v1/agent-tasks', { body })).id);
`;

it('each package names its licence, Node and files, and few dependencies', () => {
  const known = { cli: 0, client: 1, worker: 1, server: 1 };
  for (const [name, most] of Object.entries(known)) {
    const folder = join(top, name, 'node_modules/@drover', name);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      license: 'Apache-2.0',
      engines: { node: expect.any(String) },
    });
    expect(Object.keys(manifest.dependencies ?? {}).length).toBeLessThanOrEqual(most);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['LICENSE', 'README.md']));
    // Its install script reports the installation to its maker.
    expect(readdirSync(join(top, name, 'node_modules'))).not.toContain('@scarf');
  }
});

it('the packages of services have their files for operators', () => {
  const read = (name: string, file: string) =>
    readFileSync(join(top, name, 'node_modules/@drover', name, 'deploy', file), 'utf8');
  expect(read('server', 'prometheus/alerts.yml')).toContain('DroverServersGone');
  expect(read('server', 'grafana/drover.json')).toContain('drover_');
  expect(read('worker', 'worker.env')).toContain('DROVER_API_KEY');
  // Both make the image of the installed package.
  const built = 'build: { context: node_modules/@drover/server, target: drover }';
  expect(read('server', 'compose/docker-compose.yml')).toContain(built);
  expect(read('server', 'compose/.env.example')).toContain('DROVER_IMAGE=');
  expect(read('server', '../Dockerfile')).toMatch(
    /^FROM \S+ AS installed\nWORKDIR \S+\nCOPY \. \.$/m,
  );
  expect(read('server', '../examples/agent.py')).toContain('DROVER_URL');
  const unit = read('worker', 'systemd/drover-worker@.service');
  expect(unit).toContain('node_modules/@drover/worker\n');
});

it('a program of the SDK compiles in strict TypeScript', async () => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const said = await run(nodes[24], [compiler, '-p', join(top, 'worker')]).catch((error) => error);
  expect(said.stdout).toBe('');
}, 60_000);

it('a program of the SDK without an address or a key says how to get them', async () => {
  const start = (env: object) =>
    run(nodes[22], [join(top, 'worker/agent.js')], { env: { ...environment(), ...env } }).catch(
      (error: { stderr: string }) => error.stderr,
    );
  const address = await start({});
  const key = await start({ DROVER_URL: 'http://127.0.0.1:1' });
  expect(address).toMatch(/^Error: Set DROVER_URL, .* `drover up` prints it, .*\.$/m);
  expect(key).toMatch(/^Error: Set DROVER_API_KEY, .* `drover key create .* makes one, .*\.$/m);
  for (const said of [address, key]) expect(said).not.toContain('node_modules');
});

describe.each([22, 24] as const)('a server of the package in Node %i', (version) => {
  let up: Program;
  let access: Record<string, string>;
  let api: ApiClient;
  const server = (...words: string[]) =>
    new Program(
      binOf(join(top, 'server'), 'drover-server'),
      words,
      environment(),
      top,
      nodes[version],
    );

  beforeAll(async () => {
    mkdirSync(join(top, 'home'), { recursive: true });
    writeFileSync(join(top, 'home/port'), String(await freePort()), { mode: 0o600 });
    up = server('up', '--workers', '1');
    const [, url = ''] = await up.says(/Drover runs at +(\S+)\s[^]*the data stays/);
    const key = readFileSync(join(top, 'home/api-key'), 'utf8').trim();
    access = { DROVER_URL: url, DROVER_API_KEY: key };
    api = apiClient(url, { authorization: `Bearer ${key}` });
  }, 180_000);
  afterAll(async () => {
    up.kill('SIGINT');
    await up.ended;
    await waitFor('the last process', () => processesWith(top).length === 0, 60_000);
  }, 90_000);

  it('the server shows its dashboard and API, and the banner names commands of the package', async () => {
    const page = await fetch(`${access['DROVER_URL']}/`, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([
      200,
      expect.stringContaining('<div id="root"'),
    ]);
    for (const file of ['', '/swagger-ui-bundle.js', '/swagger-ui.css', '/favicon-32x32.png']) {
      expect((await fetch(`${access['DROVER_URL']}/docs${file}`)).status).toBe(200);
    }
    expect(up.output).toContain(`\`${binOf(join(top, 'server'), 'drover-server')} down\``);
    expect(up.output).not.toContain('npm start');
  });

  it.each([20, 22, 24] as const)(
    'a command line in Node %i runs a command',
    async (other) => {
      const drover = binOf(join(top, 'cli'), 'drover');
      const words = ['run', '--', 'expr', '6', '*', '7'];
      const command = new Program(drover, words, environment(), top, nodes[other]);
      expect([await command.ended, command.output]).toEqual([0, expect.stringContaining('42')]);
    },
    60_000,
  );

  it.each([20, 22, 24] as const)(
    'a client in Node %i creates a task for the SDK',
    async (other) => {
      const create = [join(top, 'client/create.js')];
      const env = { ...environment(), ...access };
      const { stdout } = await run(nodes[other], create, { env });
      const data = { DATA: join(top, `data-${version}`) };
      const agent = new Program(
        join(top, 'worker/agent.js'),
        [],
        { ...env, ...data },
        top,
        nodes[version],
      );
      const task = await waitFor('the task', async () => {
        const { body } = await api.get(`/agent-tasks/${stdout.trim()}`);
        return body['status'] === 'COMPLETED' && body;
      });
      expect(task['outputResult']).toEqual({ doubled: 42 });
      agent.kill('SIGTERM');
      expect(await agent.ended).toBe(0);
    },
    60_000,
  );

  it('the worker of the package registers, and the command line is an MCP server', async () => {
    const env = { ...environment(), ...access, DROVER_API_URL: access['DROVER_URL'] ?? '' };
    const settings = {
      DROVER_WORKER_DATA_DIR: join(top, `worker-${version}`),
      DROVER_SANDBOX: 'off',
    };
    const bin = binOf(join(top, 'worker'), 'drover-worker');
    const worker = new Program(bin, [], { ...env, ...settings }, top, nodes[version]);
    await worker.complains(/"message":"Registered"/);
    worker.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
    const mcp = run(nodes[20], [binOf(join(top, 'cli'), 'drover'), 'mcp'], { env });
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    };
    mcp.child.stdin?.end(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`,
    );
    expect((await mcp).stdout).toContain('"serverInfo"');
  }, 60_000);

  it('the status names the server, and a command line from elsewhere ends it', async () => {
    const status = server('status');
    expect([await status.ended, status.output]).toEqual([0, expect.stringContaining('http://')]);
    // A registry can have a package of somebody else by the name that `npx` asks for.
    const elsewhere = join(top, `elsewhere-${version}`);
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'npx'), '#!/bin/sh\necho "npx $*"\nexit 9\n', { mode: 0o755 });
    const env = { ...environment(), PATH: `${elsewhere}:${process.env['PATH']}` };
    const drover = binOf(join(top, 'cli'), 'drover');
    const down = new Program(drover, ['down'], env, elsewhere, nodes[20]);
    expect([await down.ended, down.output]).toEqual([0, expect.stringContaining('has stopped')]);
    await up.ended;
    const without = { ...env, DROVER_HOME: elsewhere };
    const never = new Program(drover, ['status'], without, elsewhere, nodes[20]);
    expect([await never.ended, never.output]).toEqual([
      3,
      expect.stringContaining(`Drover does not run in ${elsewhere}.`),
    ]);
    const again = new Program(drover, ['up'], without, elsewhere, nodes[20]);
    expect([await again.ended, again.output]).toEqual([
      2,
      expect.stringContaining('@drover/server is not installed'),
    ]);
  }, 60_000);
});
