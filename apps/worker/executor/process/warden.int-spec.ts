import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { newId } from '#lib/kernel';
import { isAlive, readProcess } from '#lib/runtime';
import { Log } from '../../log.js';
import { RunFolder } from '../../runs/run-folder.js';
import { killLeftovers } from '../../state/leftovers.js';
import { StateFile } from '../../state/state-file.js';
import { type CompiledWorker, compileWorker } from '../../testing/compile.js';
import {
  killMarked,
  processesWith,
  uniqueSeconds,
} from '../../../../libs/runtime/testing/processes.js';
import { waitUntil } from '../../testing/wait-until.js';

const quiet = new Log(() => undefined);
let compiled: CompiledWorker;
let dir: string;
const children: ChildProcess[] = [];

beforeAll(() => {
  compiled = compileWorker();
  dir = mkdtempSync(join(tmpdir(), 'drover-warden-'));
});

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  killMarked();
  compiled.remove();
  rmSync(dir, { recursive: true, force: true });
});

/** A worker reduced to one run: it prints the pids of its warden and its run, then lives on. */
async function startHost(
  runId: string,
  seconds: string,
): Promise<{ host: ChildProcess; wardenPid: number }> {
  const folder = new RunFolder(dir, runId);
  await folder.create({}, {});
  const script = `
    const { Warden } = await import(${JSON.stringify(compiled.path('executor/process/warden.js'))});
    const { ProcessExecutor } = await import(${JSON.stringify(compiled.path('executor/process/process-executor.js'))});
    const warden = new Warden({ warn() {} });
    warden.start();
    const executor = new ProcessExecutor({ warden, allowedDirs: [], passedEnv: { PATH: process.env.PATH } });
    const command = ['sh', '-c', 'trap "" TERM; (setsid sleep ${seconds} &); sleep ${seconds} & echo up; wait'];
    await executor.start({
      runId: ${JSON.stringify(runId)},
      task: { id: 't', retryCount: 0, inputContext: { command } },
      runToken: 'x', generation: 1, apiUrl: '',
      folder: ${JSON.stringify(folder)},
      report: {
        log: (level, line) => line.show() === 'up' && console.log(JSON.stringify({ warden: warden.pid })),
        progress() {}, started() {},
      },
    });
    setInterval(() => {}, 1000);`;
  const host = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(host);
  const [line] = (await once(createInterface({ input: host.stdout }), 'line')) as [string];
  return { host, wardenPid: (JSON.parse(line) as { warden: number }).warden };
}

describe('The processes of a worker that is killed', () => {
  test('die at once with it', async () => {
    const [runId, seconds] = [newId(), uniqueSeconds()];
    const { host, wardenPid } = await startHost(runId, seconds);
    await waitUntil('all are there', () => processesWith(seconds).length === 2);
    host.kill('SIGKILL');
    await waitUntil('nothing is left', () => processesWith(seconds).length === 0, 2_000);
    await waitUntil('the warden ends too', () => readProcess(wardenPid) === undefined);
  });

  test('die with its next life when the warden was killed too', async () => {
    const runId = newId();
    const [agentId, seconds] = [newId(), uniqueSeconds()];
    const { host, wardenPid } = await startHost(runId, seconds);
    process.kill(wardenPid, 'SIGKILL');
    host.kill('SIGKILL');
    await once(host, 'exit');
    await waitUntil('all are there', () => processesWith(seconds).length === 2);
    StateFile.open(dir, agentId).addRun(runId, newId());
    await killLeftovers(StateFile.open(dir, agentId), quiet);
    expect(processesWith(seconds)).toEqual([]);
  });
});

describe('The state file', () => {
  test('does not let the next life kill a process that only has the number', async () => {
    const agentId = newId();
    const bystander = spawn('sleep', ['4714'], { detached: true, stdio: 'ignore' });
    children.push(bystander);
    await once(bystander, 'spawn');
    const pid = bystander.pid as number;
    const ref = { pid, startTicks: readProcess(pid)?.startTicks ?? 0 };
    const first = StateFile.open(dir, agentId);
    const runId = newId();
    first.addRun(runId, newId());
    first.setLeader(runId, { pid, startTicks: ref.startTicks - 1 });
    const second = StateFile.open(dir, agentId);
    expect(second.restartCount).toBe(1);
    expect(Object.keys(second.leftovers)).toEqual([runId]);
    await killLeftovers(second, quiet);
    expect(isAlive(ref)).toBe(true);
    second.setLeader(runId, ref);
    await killLeftovers(StateFile.open(dir, agentId), quiet);
    await waitUntil('the process that was meant is killed', () => !isAlive(ref));
  });

  test('belongs to one living worker', async () => {
    const agentId = newId();
    const script = `
      const { StateFile } = await import(${JSON.stringify(compiled.path('state/state-file.js'))});
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
