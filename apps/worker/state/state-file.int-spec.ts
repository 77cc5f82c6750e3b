import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Log } from '#lib/agent-host';
import { newId } from '#lib/kernel';
import { Drivers, isAlive, type ProcessRef, readProcess } from '#lib/session-runtime';
import {
  killMarked,
  uniqueSeconds,
} from '../../../libs/hosts/session-runtime/testing/processes.js';
import { waitUntil } from '../testing/wait-until.js';
import { endLeftovers } from './leftovers.js';
import { StateFile } from './state-file.js';

const DIST = join(import.meta.dirname, '../../../dist/apps/worker/state/state-file.js');
const quiet = new Log(() => undefined);
let dir: string;
const children: ChildProcess[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-worker-state-'));
});

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  killMarked();
  rmSync(dir, { recursive: true, force: true });
});

const drivers = () => new Drivers({ dir: join(dir, 'runs') }, { process: { searchPath: '' } });

/** As versions wrote it that remembered the first process of each run in this file. */
function rememberLeader(agentId: string, runId: string, leader: ProcessRef): void {
  const path = join(dir, `agent-${agentId}.json`);
  const state = JSON.parse(readFileSync(path, 'utf8')) as { runs: object };
  const runs = { [runId]: { taskId: newId(), leader } };
  writeFileSync(path, JSON.stringify({ ...state, runs }));
}

describe('The state file', () => {
  test('does not let the next life kill a process that only has the number', async () => {
    const agentId = newId();
    const bystander = spawn('sleep', ['4714'], { detached: true, stdio: 'ignore' });
    children.push(bystander);
    await once(bystander, 'spawn');
    const pid = bystander.pid as number;
    const ref = { pid, startTicks: readProcess(pid)?.startTicks ?? 0 };
    const runId = newId();
    StateFile.open(dir, agentId);
    rememberLeader(agentId, runId, { pid, startTicks: ref.startTicks - 1 });
    const second = StateFile.open(dir, agentId);
    expect(second.restartCount).toBe(1);
    expect(Object.keys(second.leftovers)).toEqual([runId]);
    await endLeftovers(second, drivers(), quiet);
    expect(isAlive(ref)).toBe(true);
    rememberLeader(agentId, runId, ref);
    await endLeftovers(StateFile.open(dir, agentId), drivers(), quiet);
    await waitUntil('the process that was meant is killed', () => !isAlive(ref));
  });

  test('lets the next life end what carries the mark of a run', async () => {
    const [agentId, runId] = [newId(), newId()];
    StateFile.open(dir, agentId).addRun(runId, newId());
    const env = { ...process.env, DROVER_RUN_ID: runId };
    const left = spawn('sleep', [uniqueSeconds()], { detached: true, stdio: 'ignore', env });
    const exited = once(left, 'exit');
    await once(left, 'spawn');
    await endLeftovers(StateFile.open(dir, agentId), drivers(), quiet);
    expect(await exited).toEqual([null, 'SIGKILL']);
  });

  test('belongs to one living worker', async () => {
    const agentId = newId();
    const script = `
      const { StateFile } = await import(${JSON.stringify(DIST)});
      StateFile.open(${JSON.stringify(dir)}, ${JSON.stringify(agentId)});
      console.log('open');
      setInterval(() => {}, 1000);`;
    const other = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(other);
    await once(createInterface({ input: other.stdout }), 'line');
    expect(() => StateFile.open(dir, agentId)).toThrow(`Process ${other.pid} already works`);
    other.kill('SIGKILL');
    await once(other, 'exit');
    expect(StateFile.open(dir, agentId).restartCount).toBe(1);
  });
});
