import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort } from '#lib/local-servers';
import { apiClient } from '../support/api-client.js';
import { olderNode } from '../support/older-node.js';
import { waitFor } from '../support/wait-for.js';
import { processesWith, Program } from './program.js';

/**
 * Clients run on Node 20, servers and workers on 22. Scripts continue under Node 24 if its package
 * is installed.
 */

const root = join(import.meta.dirname, '../..');
let folder: string;
let node20: string;
let node22: string;

beforeAll(async () => {
  [node20, node22] = [await olderNode(20), await olderNode(22)];
  folder = mkdtempSync(join(tmpdir(), 'drover-e2e-'));
  // The account of Postgres must be able to enter the folder.
  chmodSync(folder, 0o755);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a server, a worker and a gateway in Node 22', () => {
  let started: Program;
  let address: string;
  const env = () => ({ DROVER_HOME: folder, TMPDIR: folder });

  beforeAll(async () => {
    writeFileSync(join(folder, 'port'), String(await freePort()), { mode: 0o600 });
    const main = join(root, 'dist/tools/start/main.js');
    started = new Program(main, ['--workers', '1'], { ...env(), PORT: '' }, undefined, node22);
    [, address = ''] = await started.says(/Drover runs at +(\S+)\s[^]*the data stays/);
  }, 120_000);
  afterAll(async () => {
    started.kill('SIGINT');
    await started.ended;
    await waitFor('the last process', () => processesWith(folder).length === 0, 60_000);
  }, 90_000);

  it('server, worker and gateway run in Node 22 with all of their children', () => {
    const programs = processesWith(folder).map((line) => line.split(' ')[0]);
    const files = programs.map((pid) => readlinkSync(`/proc/${pid}/exe`));
    const nodes = new Set(files.filter((file) => file.endsWith('/node')));
    expect([...nodes]).toEqual([node22]);
  });

  it('a command line in Node 20 creates a task that they complete', async () => {
    const context = { ...env(), HOME: folder };
    const typed = ['run', '--', 'expr', '6', '*', '7'];
    const drover = join(root, 'scripts/drover.mjs');
    const command = new Program(drover, typed, context, tmpdir(), node20);
    expect([await command.ended, command.output]).toEqual([0, expect.stringContaining('42')]);
    const key = readFileSync(join(folder, 'api-key'), 'utf8').trim();
    const api = apiClient(address, { authorization: `Bearer ${key}` });
    const { body } = await api.get<{ items: unknown[] }>('/agent-tasks?status=COMPLETED');
    expect(body.items).toHaveLength(1);
  }, 60_000);
});

describe.each(['server', 'worker', 'gateway'])('a %s in Node 20', (name) => {
  it('a program in Node 20 ends with a sentence that names the required version', async () => {
    const program = new Program(join(root, `dist/apps/${name}/main.js`), [], {}, root, node20);
    expect(await program.ended).toBe(1);
    expect(program.output).toMatch(/^Servers, workers .* need Node 22\.19 .* this is 20\..*\n$/);
  });
});

describe('a script in Node 20', () => {
  const children: ChildProcess[] = [];
  afterAll(() => children.forEach((child) => child.kill('SIGKILL')));

  /** Writes a script that moves to the Node of Drover and then runs the body. */
  function script(body: string) {
    const lib = (name: string) => JSON.stringify(pathToFileURL(join(root, 'scripts/lib', name)));
    const file = join(folder, `script-${children.length}.mjs`);
    const text = `import { moveToNodeOfDrover } from ${lib('node.mjs')};
      import { endWithParent } from ${lib('end-with-parent.mjs')};
      endWithParent();
      await moveToNodeOfDrover();
      ${body}`;
    writeFileSync(file, text);
    const env = { ...process.env };
    delete env['npm_lifecycle_event'];
    const child = spawn(node20, [file, 'an argument'], { env });
    children.push(child);
    let said = '';
    child.stdout.on('data', (part) => (said += part));
    return { child, said: () => said };
  }

  it('a script continues in Node 24 with its arguments, its input and its exit code', async () => {
    const { child, said } = script(`
      console.log(process.version.split('.')[0], process.argv[2]);
      process.stdin.pipe(process.stdout).on('finish', () => {});
      process.stdin.on('end', () => (process.exitCode = 7));`);
    child.stdin.end('what was typed');
    expect(await once(child, 'close')).toEqual([7, null]);
    expect(said()).toBe('v24 an argument\nwhat was typed');
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('a script passes on %s', async (signal) => {
    const { child, said } = script(`
      process.on('${signal}', () => process.exit(9));
      setInterval(() => {}, 1000);
      console.log('ready');`);
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(await once(child, 'close')).toEqual([9, null]);
    expect(said()).toBe('ready\n');
  });

  it('a script ends by the signal that ends its Node 24', async () => {
    const { child } = script(`process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);`);
    expect(await once(child, 'close')).toEqual([null, 'SIGTERM']);
  });

  it('a killed script ends its Node 24', async () => {
    const { child } = script(`setInterval(() => {}, 1000); console.log(process.pid);`);
    const [pid] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGKILL');
    await waitFor('the other to end', () => !isAlive(Number(pid)));
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
