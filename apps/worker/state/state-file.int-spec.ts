import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Log } from '#lib/agent-host';
import { newId } from '#lib/kernel';
import { Drivers } from '#lib/session-runtime';
import {
  killMarked,
  uniqueSeconds,
} from '../../../libs/hosts/session-runtime/testing/processes.js';
import { endLeftovers } from './leftovers.js';
import { recordOf, StateFile } from './state-file.js';

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

const open = (agentId: string) => StateFile.open(dir, agentId, quiet);

describe('The state file', () => {
  test('a restarted worker knows its runs, also from the files of earlier versions', () => {
    const [agentId, runId, earlierId] = [newId(), newId(), newId()];
    open(agentId).runs.add(recordOf(runId, newId()));
    const path = join(dir, `agent-${agentId}.json`);
    const state = JSON.parse(readFileSync(path, 'utf8')) as object;
    writeFileSync(path, JSON.stringify({ ...state, runs: { [earlierId]: { taskId: newId() } } }));
    for (const restartCount of [1, 2]) {
      const next = open(agentId);
      expect(next.restartCount).toBe(restartCount);
      expect(next.runs.all().map(({ id }) => id)).toEqual([runId, earlierId]);
    }
  });

  test('a restarted worker ends a process with the mark of a run', async () => {
    const [agentId, runId] = [newId(), newId()];
    open(agentId).runs.add(recordOf(runId, newId()));
    const env = { ...process.env, DROVER_RUN_ID: runId };
    const left = spawn('sleep', [uniqueSeconds()], { detached: true, stdio: 'ignore', env });
    const exited = once(left, 'exit');
    await once(left, 'spawn');
    await endLeftovers(open(agentId), drivers(), quiet);
    expect(await exited).toEqual([null, 'SIGKILL']);
  });

  test('the state file belongs to one living worker', async () => {
    const agentId = newId();
    const script = `
      const { StateFile } = await import(${JSON.stringify(DIST)});
      StateFile.open(${JSON.stringify(dir)}, ${JSON.stringify(agentId)}, console);
      console.log('open');
      setInterval(() => {}, 1000);`;
    const other = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(other);
    await once(createInterface({ input: other.stdout }), 'line');
    expect(() => open(agentId)).toThrow(`Process ${other.pid} already works`);
    other.kill('SIGKILL');
    await once(other, 'exit');
    expect(open(agentId).restartCount).toBe(1);
  });
});
