import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interpolate, readCompose, wantedVariables } from '../container/compose.js';
import { buildImage, type Image } from '../container/dockerfile.js';
import { Podman } from '../container/podman.js';
import { apiClient } from '../support/api-client.js';
import { startCluster, type TestCluster } from '../support/cluster.js';
import { testServers } from '../support/servers.js';
import { waitFor } from '../support/wait-for.js';
import { Program } from './program.js';

/** The limit of what the image adds to Node and the distribution: 21 MB when this was written. */
const MOST_MEGABYTES = 30;

const LISTENING = /"listening".*?"address":"([^"]+)"/;

const compose = readCompose();
const folder = mkdtempSync(join(tmpdir(), 'drover-image-'));
const podman = await Podman.start(join(folder, 'podman'));
const programs: Program[] = [];
let image: Image;
let cluster: TestCluster;
let places: [string, string][];
let variables: Record<string, string>;

beforeAll(async () => {
  image = buildImage(folder);
  cluster = await startCluster();
  const secret = 'a secret of the tests that is long enough';
  variables = Object.fromEntries(wantedVariables().map((name) => [name, secret]));
  for (const name of wantedVariables().filter((word) => word.endsWith('_PASSWORD'))) {
    variables[name] = 'letters-only';
  }
  variables['ENCRYPTION_KEYS'] = `tests:${'A'.repeat(43)}=`;
  await cluster.admin.query(`CREATE ROLE drover SUPERUSER LOGIN PASSWORD 'letters-only'`);
  await cluster.admin.query('ALTER DATABASE drover OWNER TO drover');
  const { host } = new URL(await cluster.newDatabase());
  places = [
    ['postgres:5432', host],
    [`redis://:letters-only@valkey:6379`, testServers().valkeyUrl],
    ['/data', join(image.root, 'data')],
  ];
}, 600_000);

afterAll(async () => {
  for (const program of programs) program.kill('SIGKILL');
  await Promise.all(programs.map(({ ended }) => ended));
  if (typeof podman !== 'string') await podman.stop();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Returns the environment of a service in the compose file, with this machine's addresses instead
 * of the file's.
 */
function environmentOf(
  name: string,
  values: Record<string, string>,
  moved = places,
): Record<string, string> {
  const given = Object.entries(compose.services[name]?.environment ?? {});
  const told = given.map(([variable, value]) => {
    const text = interpolate(String(value), values);
    return [variable, moved.reduce((said, [from, to]) => said.replace(from, to), text)];
  });
  const here = { HOST: '127.0.0.1', PORT: '0' };
  return { ...image.env, ...(Object.fromEntries(told) as Record<string, string>), ...here };
}

function start(
  name: string,
  command = compose.services[name]?.command ?? image.cmd,
  values = variables,
): Program {
  const [node, script = '', ...args] = command;
  expect(node).toBe('node');
  const program = new Program(
    join(image.root, image.workdir, script),
    args,
    environmentOf(name, values),
    image.root,
  );
  programs.push(program);
  return program;
}

/** @returns its address */
async function listening(name: string): Promise<string> {
  const [, address = ''] = await start(name).says(LISTENING);
  return address;
}

/** Returns the exit code of a service's health check. */
function health(name: string, address: string): number | null {
  const [, , ...args] = compose.services[name]?.healthcheck?.test ?? [];
  const here = args.map((arg) => arg.replace(/http:\/\/127\.0\.0\.1:\d+/, address));
  return spawnSync(process.execPath, here).status;
}

describe('The image that the Dockerfile makes', () => {
  it('the image is the package @drover/server without its PostgreSQL', () => {
    const app = join(image.root, image.workdir);
    expect(readdirSync(app).sort()).toEqual(expect.arrayContaining(['dist', 'node_modules']));
    expect(readdirSync(join(app, 'node_modules'))).toEqual(['.package-lock.json', '@node-rs']);
    const size = execFileSync('du', ['-sm', app], { encoding: 'utf8' });
    expect(parseInt(size)).toBeLessThan(MOST_MEGABYTES);
    expect(existsSync(join(image.root, 'data'))).toBe(true);
  });

  it('the image runs a task with the services of the compose file', async () => {
    const migration = start('migrate');
    expect([await migration.ended, migration.output]).toEqual([
      0,
      expect.stringMatching('migrated'),
    ]);
    const address = await listening('server-1');
    expect(health('server-1', address)).toBe(0);
    expect(health('server-1', 'http://127.0.0.1:1')).toBe(1);
    places.push(['http://server-1:3000', address]);
    const gateway = await listening('gateway');
    expect(health('gateway', gateway)).toBe(0);
    // The key does not exist yet. The worker must not end, or Compose would restart it again and
    // again.
    const keyless = { ...variables, DROVER_API_KEY: '' };
    await start('worker-1', undefined, keyless).complains(/The worker has no key and waits/);
    const anybody = apiClient(address, {});
    const errand = start('server-1', [...image.cmd, '--create-administrator']);
    const [line = ''] = await errand.says(/^.*"administrator created".*$/m);
    const { email, password, workspaceId } = JSON.parse(line) as Record<string, string>;
    const again = start('server-1', [...image.cmd, '--create-administrator']);
    await again.says(/there are users already.*`drover user password`/);
    const { body } = await anybody.post('/auth/login', { email, password, workspaceId });
    const admin = apiClient(address, { authorization: `Bearer ${String(body.accessToken)}` });
    const key = await admin.post(`/workspaces/${workspaceId}/api-keys`, {
      name: 'workers',
      scopes: ['agents:write'],
    });
    variables['DROVER_API_KEY'] = String(key.body.key);
    start('worker-1');
    const task = await admin.post<{ id: string }>('/agent-tasks', {
      title: 'In the image',
      taskType: 'test',
      inputContext: { command: ['node', '-e', 'console.log(1)'] },
    });
    await waitFor('the task to complete', async () => {
      const now = await admin.get<{ status: string }>(`/agent-tasks/${task.body.id}`);
      return now.body.status === 'COMPLETED';
    });
  });
});

describe('The image in Podman', () => {
  // If this machine runs no containers, the name of the test says so.
  const because = typeof podman === 'string' ? ` (left out: ${podman})` : '';
  const test = typeof podman === 'string' ? it.skip : it;
  const engine = podman as Podman;

  /** Runs a service with fewer options than the compose file sets. */
  function run(name: string, options: string[], command = compose.services[name]?.command ?? []) {
    const { security_opt = [], cap_drop = [] } = compose.services[name] ?? {};
    const security = security_opt.flatMap((text) => ['--security-opt', text]);
    const rights = [...security, ...cap_drop.flatMap((text) => ['--cap-drop', text])];
    // Podman starts health checks by systemd, which is absent here.
    const bounds = ['--no-healthcheck', '--read-only', '--tmpfs', '/tmp', '--memory', '512m'];
    const beside = places.filter(([path]) => path !== '/data');
    const env = environmentOf(name, variables, beside);
    const program = engine.run([...rights, ...bounds, ...options], env, command);
    programs.push(program);
    return program;
  }

  test(`the image builds in Podman, and serves in a read-only container${because}`, async () => {
    await engine.buildLast(folder);
    expect(await engine.config()).toMatchObject({
      User: 'node',
      WorkingDir: image.workdir,
      Cmd: image.cmd,
      Volumes: { '/data': {} },
      Labels: {
        'org.opencontainers.image.licenses': 'Apache-2.0',
        'org.opencontainers.image.version': '1.2.3',
        'org.opencontainers.image.revision': 'abc',
      },
      Healthcheck: { Test: ['CMD', 'node', '-e', expect.stringContaining('/readyz')] },
    });
    const facts = 'console.log(process.getuid(), process.constrainedMemory() / 2 ** 20)';
    const asked = run('server-1', [], ['node', '-e', facts]);
    expect([await asked.ended, asked.output.trim()]).toEqual([0, '1000 512']);
    const migration = run('migrate', []);
    expect([await migration.ended, migration.output]).toEqual([
      0,
      expect.stringMatching('migrated'),
    ]);
    const [, address = ''] = await run('server-1', []).says(LISTENING);
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    expect(health('server-1', address)).toBe(0);
  });

  test.each([
    ['with its /proc unmasked', ['--security-opt', 'unmask=ALL'], 'Each session has a sandbox'],
    ['as the compose file has it', [], 'Can.t mount proc.*Sessions have no sandbox'],
  ])(`a gateway reports whether it has sandboxes: %s${because}`, async (_, options, said) => {
    const gateway = run('gateway', options);
    await gateway.says(LISTENING);
    expect(gateway.output).toMatch(new RegExp(said));
  });
});
