import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { newId } from '#lib/kernel';
import { waitFor } from '../../../../test/support/wait-for.js';
import { killMarked, processesWith, uniqueSeconds } from '../testing/processes.js';
import { ProcessDriver } from './process-driver.js';
import { listProcesses, readProcess } from './process-tree.js';
import { SUPERVISOR } from './supervisor.js';

const DIST = join(import.meta.dirname, '../../../../dist/libs/hosts/session-runtime');
const DRIVER = join(DIST, 'process/process-driver.js');
const searchPath = process.env['PATH'] ?? '';
let dir: string;
const children: ChildProcess[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-supervisor-'));
});

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  killMarked();
  rmSync(dir, { recursive: true, force: true });
});

/**
 * A host with one session whose output it reads. It stays alive after the session's first output.
 */
async function startHost(
  id: string,
  seconds: string,
): Promise<{ host: ChildProcess; supervisorPid: number }> {
  const command = `trap "" TERM; (setsid sleep ${seconds} &); sleep ${seconds} & echo up; wait`;
  const spec = { id, command: ['sh', '-c', command], env: {}, files: {}, secrets: [] };
  const script = `
    const { ProcessDriver } = await import(${JSON.stringify(DRIVER)});
    const driver = new ProcessDriver(${JSON.stringify({ dir, searchPath })});
    const output = { write: () => console.log('up'), end() {} };
    await driver.spawn({ ...${JSON.stringify(spec)}, output });
    setInterval(() => {}, 1000);`;
  const host = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(host);
  await once(createInterface({ input: host.stdout }), 'line');
  const [supervisor] = processesWith(SUPERVISOR).filter(
    (pid) => readProcess(pid)?.parent === host.pid,
  );
  return { host, supervisorPid: supervisor ?? 0 };
}

describe('The processes of a killed host', () => {
  test('the sessions of a killed host die with it', async () => {
    const [id, seconds] = [newId(), uniqueSeconds()];
    const { host, supervisorPid } = await startHost(id, seconds);
    await waitFor('all to be there', () => processesWith(seconds).length === 2);
    expect(listProcesses().some(({ pid }) => pid === supervisorPid)).toBe(true);
    host.kill('SIGKILL');
    await waitFor('nothing to be left', () => processesWith(seconds).length === 0, 2_000);
    await waitFor('the supervisor to end', () => readProcess(supervisorPid) === undefined);
  });

  test('a restarted host kills the sessions if the supervisor was killed too', async () => {
    const [id, seconds] = [newId(), uniqueSeconds()];
    const { host, supervisorPid } = await startHost(id, seconds);
    process.kill(supervisorPid, 'SIGKILL');
    host.kill('SIGKILL');
    await once(host, 'exit');
    await waitFor('all to be there', () => processesWith(seconds).length === 2);
    expect(await new ProcessDriver({ dir, searchPath }).end(id)).toBe(true);
    expect(processesWith(seconds)).toEqual([]);
  });
});
