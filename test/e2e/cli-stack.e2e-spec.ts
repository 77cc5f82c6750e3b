import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#lib/local-servers';
import { waitFor } from '../support/wait-for.js';
import { processesWith } from './program.js';
import { type Ended, Terminal } from './terminal.js';

/** A local server from `drover up` to `drover down`. Each test builds on the previous one. */

let home: string;
let env: Record<string, string>;
let address: string;
let workerMetrics: string;
let up: Ended;

const drover = (line: string, other: Record<string, string> = {}): Promise<Ended> =>
  new Terminal(line.split(' '), { env: { ...env, ...other }, cwd: tmpdir() }).ended;

async function json<T>(line: string): Promise<T> {
  const { code, stdout, stderr } = await drover(`${line} --json`);
  if (code !== 0) throw new Error(`${line}: ${code} ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** The folder below those of the workers that has the file. */
function folderWith(file: string): string {
  const found = ['worker-1', 'worker-2'].flatMap((name) =>
    readdirSync(join(home, name), { recursive: true, withFileTypes: true }),
  );
  return found.find(({ name }) => name === file)?.parentPath ?? '';
}

const RUNS_NOT = /^Drover does not run in \S+\.\n$/;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'drover-e2e-'));
  // Postgres runs as another user and must reach its data.
  chmodSync(home, 0o755);
  const ports = { server: await freePort(), metrics: await freePort() };
  address = `http://127.0.0.1:${ports.server}`;
  workerMetrics = `http://127.0.0.1:${ports.metrics}`;
  env = {
    HOME: home,
    TMPDIR: home,
    DROVER_HOME: home,
    PORT: String(ports.server),
    DROVER_WORKER_METRICS_PORT: String(ports.metrics),
  };
});

afterAll(async () => {
  await drover('down');
  await waitFor('the last process', () => processesWith(home).length === 0);
  rmSync(home, { recursive: true, force: true });
});

describe('before `up`', () => {
  it('status reports that nothing runs, and task list knows no server', async () => {
    const asked = ['status', 'status --json', 'down', 'task list'].map((line) => drover(line));
    const [status, statusAsJson, down, tasks] = await Promise.all(asked);
    expect(status).toMatchObject({ code: 3, stdout: expect.stringMatching(RUNS_NOT) });
    expect(statusAsJson).toMatchObject({ code: 3, stdout: '', stderr: status?.stdout });
    expect(down).toMatchObject({ code: 0, stdout: `Nothing runs in ${home}.\n` });
    expect(tasks).toMatchObject({ code: 3, stderr: expect.stringContaining('`npm start`') });
  });

  it('up with too many workers is a usage error', async () => {
    const { code, stderr } = await drover('up --workers 33 --daemon');
    expect([code, stderr]).toEqual([2, expect.stringContaining('whole number from 0 to 32')]);
  });
});

describe('up, in the background', () => {
  beforeAll(async () => {
    up = await drover('up --daemon --workers 2');
  });

  it('up --daemon returns when all processes are ready and prints the address', () => {
    expect(up).toMatchObject({ code: 0, stderr: '' });
    expect(up.stdout).toMatch(`Drover runs at         ${address}\n`);
    expect(readFileSync(join(home, 'start.log'), 'utf8')).toContain(up.stdout.trimEnd());
  });

  it('up starts two idle workers', async () => {
    // A worker that has sent no heartbeat yet is not idle.
    const idle = await waitFor('their heartbeats', async () => {
      const { stdout } = await drover('worker list');
      const found = stdout.match(/worker-\d\tIDLE/g) ?? [];
      return found.length === 2 ? found : undefined;
    });
    expect(idle.sort()).toEqual(['worker-1\tIDLE', 'worker-2\tIDLE']);
  });

  it('agents can work on repositories below the folder where `up` was called, and on no others', async () => {
    const folder = join(home, 'shop');
    execFileSync('git', ['init', '-q', '-b', 'main', folder]);
    const commit = ['commit', '-q', '--allow-empty', '-m', 'Begin'];
    const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
    execFileSync('git', ['-C', folder, ...identity, ...commit]);
    expect(await drover(`repo add ${folder} --name shop --accept true`)).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect((await drover('repo check shop')).stdout).toMatch(/^reachable\tok/m);
    const outside = await drover('repo add /etc --name etc --branch main');
    expect([outside.code, outside.stderr]).toEqual([
      4,
      expect.stringContaining('DROVER_REPOSITORY_PATHS'),
    ]);
  });

  it('metrics need a token that no process environment contains', async () => {
    const file = readFileSync(join(home, 'secrets.json'), 'utf8');
    const { metricsToken } = JSON.parse(file) as { metricsToken: string };
    expect(processesWith(metricsToken)).toEqual([]);
    const [, gateway = ''] = /gateway at (\S+)/.exec(up.stdout) ?? [];
    const metricsOf = async (url: string, authorization: string): Promise<string> =>
      (await fetch(`${url}/metrics`, { headers: { authorization } })).text();
    for (const [url, metric] of [
      [gateway, 'drover_gateway_capacity'],
      [workerMetrics, 'drover_worker_capacity'],
    ] as const) {
      expect(await metricsOf(url, `Bearer ${metricsToken}`)).toContain(`\n${metric} `);
      expect(await metricsOf(url, 'Bearer another')).not.toContain(metric);
    }
  });

  it('run executes a command on the local server', async () => {
    const { code, stdout } = await drover('run -- echo hi');
    expect([code, stdout]).toEqual([0, 'hi\n']);
  });

  it('status shows the local processes and the coordinator', async () => {
    const { code, stdout, stderr } = await drover('status');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(`Drover runs at         ${address}\n`);
    expect(stdout).toMatch(/Workers +2\nProcesses +start \d+, supervisor \d+, server \d+, /);
    expect(stdout).toMatch(/\ncoordinator\tled by /);
    const asJson = await drover('orchestrator status --json');
    expect(JSON.parse(asJson.stdout)).toMatchObject({ active: true, stats: { healthyAgents: 2 } });
    expect(asJson.stderr).toMatch(/Workers +2\n/);
  });

  it('orchestrator reconcile succeeds', async () => {
    expect(await json('orchestrator reconcile')).toMatchObject({ failedSteps: [] });
  });

  it.each([
    ['up --daemon', 'with the same PORT', {}],
    ['orchestrator start', 'with any free port', { PORT: '' }],
  ])('a second start leaves the first one alone: %s %s', async (line, _, other) => {
    const known = readFileSync(join(home, 'processes.json'), 'utf8');
    const { code, stderr } = await drover(line, other);
    expect([code, stderr]).toEqual([
      1,
      `Drover already runs in ${home}, at ${address}: use that one, or stop it with \`npm start -- stop\`.\n`,
    ]);
    expect(readFileSync(join(home, 'processes.json'), 'utf8')).toBe(known);
  });
});

describe('down', () => {
  it('a graceful stop finishes the running task, ends all processes and keeps the data', async () => {
    const script = 'echo works; touch here; until test -e go; do sleep 0.1; done';
    const run = new Terminal(['run', '--', 'sh', '-c', script], { env, cwd: tmpdir() });
    await waitFor('the first word', () => run.stdout.includes('works') || undefined);
    const words = 'orchestrator stop --graceful --timeout 1h'.split(' ');
    const stop = new Terminal(words, { env, cwd: tmpdir() });
    const logs = (): string =>
      ['worker-1', 'worker-2']
        .map((name) => readFileSync(join(home, `${name}.log`), 'utf8'))
        .join();
    await waitFor('the worker to stop', () => /"Stopping".*"runs":1/.test(logs()));
    writeFileSync(join(folderWith('here'), 'go'), '');
    const { code, stdout } = await stop.ended;
    expect([code, stdout]).toEqual([0, expect.stringContaining('Drover has stopped; the data')]);
    expect(stdout).toContain('up to 3600 s to finish');
    expect(logs()).toMatch(/"Run ended".*"end":"complete"/);
    run.child.kill('SIGKILL');
    await run.ended;
    expect(processesWith(home)).toEqual([]);
    const urls = [address, workerMetrics, /gateway at (\S+)/.exec(up.stdout)?.[1] ?? ''];
    for (const url of urls) await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('a second down and status report that nothing runs', async () => {
    const asked = ['orchestrator stop', 'status', 'orchestrator status --json'].map((line) =>
      drover(line),
    );
    const [down, status, statusAsJson] = await Promise.all(asked);
    expect(down).toMatchObject({ code: 0, stdout: `Nothing runs in ${home}.\n` });
    expect(status).toMatchObject({ code: 3, stdout: expect.stringMatching(RUNS_NOT) });
    expect(statusAsJson).toMatchObject({ code: 3, stdout: '' });
  });

  it('reconcile after down fails with exit code 6', async () => {
    const { code, stderr } = await drover('orchestrator reconcile');
    expect([code, stderr]).toEqual([6, expect.stringContaining('`npm start`')]);
  });
});
