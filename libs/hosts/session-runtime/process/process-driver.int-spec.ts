import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { waitFor } from '../../../../test/support/wait-for.js';
import { newId } from '#lib/kernel';
import { killMarked, processesWith, uniqueSeconds } from '../testing/processes.js';
import { describeDriver, type DriverHarness } from '../testing/driver-conformance.js';
import { testSandbox } from '../testing/sandboxes.js';
import { ProcessDriver, type ProcessDriverOptions } from './process-driver.js';
import { isAlive, listProcesses, membersOf, readProcess } from './process-tree.js';
import { SessionFolder } from './session-folder.js';
import { SHIM } from './start-shim.js';

const DIST = join(import.meta.dirname, '../../../../dist/libs/hosts/session-runtime');
const DRIVER = join(DIST, 'process/process-driver.js');
const searchPath = process.env['PATH'] ?? '';

const temporary = () => mkdtempSync(join(tmpdir(), 'drover-runtime-'));
const driverIn = (dir: string, more: Partial<ProcessDriverOptions> = {}) =>
  new ProcessDriver({ dir, searchPath, ...more });

const OTHER = { uid: 54_321, gid: 54_321 };
const isRoot = process.getuid?.() === 0;

function harnessOf(more: Partial<ProcessDriverOptions> = {}): Promise<DriverHarness> {
  const dir = temporary();
  return Promise.resolve({
    make: () => driverIn(dir, more),
    countProcesses: (word) => Promise.resolve(processesWith(word).length),
    uniqueSeconds,
    dispose: () => {
      killMarked();
      rmSync(dir, { recursive: true, force: true });
      return Promise.resolve();
    },
  });
}

const sandbox = await testSandbox();

describeDriver('A process of this machine', () => harnessOf());
if (sandbox) describeDriver('A process in a sandbox', () => harnessOf({ sandbox }));

// Only root can start a process as another user.
if (isRoot) {
  describeDriver('A process of another user', () => harnessOf({ accounts: () => OTHER }));
  if (sandbox) {
    describeDriver('A process of another user in a sandbox', () =>
      harnessOf({ accounts: () => OTHER, sandbox }),
    );
  }
}

(isRoot ? describe : describe.skip)('A session as another user', () => {
  test('a session as another user has a private folder and a clean environment', async () => {
    const dir = temporary();
    const driver = driverIn(dir, { accounts: () => OTHER });
    const script = `
      id -u; id -g; id -G; echo mine > file && cat file
      cat "$DROVER_TASK_FILE" > /dev/null && echo reads
      cat /proc/${process.pid}/environ > /dev/null 2>&1 || echo no environment
      ls ../.. 2>/dev/null || echo no list
      ls ../../.*/launch-* > /dev/null 2>&1 || echo no launch
      mv "$PWD/.." ../../other 2>/dev/null || echo no move`;
    const session = await driver.spawn({
      id: newId(),
      command: ['sh', '-c', script],
      env: {},
      secrets: [],
      files: { DROVER_TASK_FILE: { name: 'task.json', content: '{}' } },
    });
    const { output } = await session.exit;
    expect(output.trim().split('\n')).toEqual([
      '54321',
      '54321',
      '54321',
      'mine',
      'reads',
      'no environment',
      'no list',
      'no launch',
      'no move',
    ]);
    await driver.remove(session.id);
    expect(readdirSync(dir)).toEqual([]);
    rmSync(dir, { recursive: true });
  });
});

describe('Sessions as processes', () => {
  let dir: string;
  const children: ChildProcess[] = [];

  beforeAll(() => {
    dir = temporary();
  });

  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    killMarked();
    rmSync(dir, { recursive: true, force: true });
  });

  const spec = (script: string, id = newId()) => ({
    id,
    command: ['sh', '-c', script] as [string, ...string[]],
    env: {},
    files: {},
    secrets: [],
  });

  const claimOf = (id: string) => SessionFolder.open(dir, id)?.readClaim();

  /** Another process that starts a session, reports it, and stays alive. */
  async function startHost(id: string, script: string): Promise<ChildProcess> {
    const program = `
      const { ProcessDriver } = await import(${JSON.stringify(DRIVER)});
      const driver = new ProcessDriver(${JSON.stringify({ dir, searchPath })});
      await driver.spawn(${JSON.stringify(spec(script, id))});
      console.log('started');
      setInterval(() => {}, 1000);`;
    const host = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(host);
    await once(createInterface({ input: host.stdout }), 'line');
    return host;
  }

  async function kill(host: ChildProcess): Promise<void> {
    host.kill('SIGKILL');
    await once(host, 'exit');
  }

  test('a session survives the SIGKILL of its host and continues to write', async () => {
    const [id, seconds] = [newId(), uniqueSeconds()];
    const script = `trap 'echo still here; exit 7' TERM; echo up; sleep ${seconds} & wait`;
    await kill(await startHost(id, script));
    const found = await driverIn(dir).recover(id);
    if (found.kind !== 'running') throw new Error(`it is ${found.kind}`);
    await waitFor('it to run', () => processesWith(seconds).length === 1);
    found.session.stop(10_000);
    const exit = await found.session.exit;
    expect(exit).toMatchObject({ exitCode: 7, lost: false, output: 'up\nstill here' });
  });

  test('a restarted host gets the exit code of a session that ended meanwhile', async () => {
    const [id, seconds] = [newId(), uniqueSeconds()];
    await kill(await startHost(id, `trap 'exit 11' TERM; sleep ${seconds} & wait`));
    const shim = claimOf(id)?.keeper;
    if (!shim) throw new Error('no shim');
    const { leader } = SessionFolder.open(dir, id)?.readStarted() ?? {};
    await waitFor('the trap to be set', () => processesWith(seconds).length === 1);
    process.kill(leader?.pid ?? 0, 'SIGTERM');
    await waitFor('the shim to end', () => !isAlive(shim));
    expect(await driverIn(dir).recover(id)).toMatchObject({
      kind: 'ended',
      exit: { exitCode: 11, lost: false },
    });
  });

  test('a restarted host kills a session whose shim was killed too', async () => {
    const [id, seconds] = [newId(), uniqueSeconds()];
    const host = await startHost(id, `(setsid sleep ${seconds} &); sleep ${seconds} & wait`);
    await waitFor('both to run', () => processesWith(seconds).length === 2);
    const shim = claimOf(id)?.keeper;
    if (!shim) throw new Error('no shim');
    // Kills the host first: a host that sees its shim end would end the session itself.
    await kill(host);
    process.kill(shim.pid, 'SIGKILL');
    await waitFor('the shim to end', () => !isAlive(shim));
    expect(processesWith(seconds)).toHaveLength(2);
    expect(await driverIn(dir).recover(id)).toMatchObject({
      kind: 'ended',
      exit: { exitCode: null, signal: null, lost: true },
    });
    expect(processesWith(seconds)).toEqual([]);
  });

  test('a session ends when its shim is killed under a running driver', async () => {
    const seconds = uniqueSeconds();
    const session = await driverIn(dir).spawn(spec(`sleep ${seconds} & wait`));
    process.kill(claimOf(session.id)?.keeper?.pid ?? 0, 'SIGKILL');
    expect(await session.exit).toMatchObject({ lost: true });
    expect(processesWith(seconds)).toEqual([]);
  });

  test('a session never starts after a restarted host has voided the attempt', async () => {
    const [id, mark] = [newId(), join(dir, `mark-${newId()}`)];
    // A late shim: it reads its order only after the restarted host has looked for it.
    const late = join(dir, 'late-shim.mjs');
    const gate = join(dir, 'gate');
    writeFileSync(
      late,
      `import { existsSync } from 'node:fs';
       while (!existsSync(${JSON.stringify(gate)})) await new Promise((r) => setTimeout(r, 10));
       await import(${JSON.stringify(SHIM)});`,
    );
    const driver = driverIn(dir, { shim: late });
    const attempt = driver.spawn(spec(`echo late > ${mark}`, id)).catch((error: unknown) => error);
    const next = driverIn(dir);
    await waitFor('the folder', () => SessionFolder.open(dir, id));
    expect(await next.recover(id)).toEqual({ kind: 'absent' });
    const again = await next.spawn(spec(`echo again >> ${mark}`, id));
    writeFileSync(gate, '');
    expect(await attempt).toBeInstanceOf(Error);
    await again.exit;
    expect(readFileSync(mark, 'utf8')).toBe('again\n');
  });

  test('a process with a reused number is not killed in place of the session', async () => {
    const bystander = spawn('sleep', [uniqueSeconds()], { detached: true, stdio: 'ignore' });
    children.push(bystander);
    await once(bystander, 'spawn');
    const pid = bystander.pid as number;
    const ref = { pid, startTicks: readProcess(pid)?.startTicks ?? 0 };
    const other = { pid, startTicks: ref.startTicks - 1 };
    const id = newId();
    const folder = SessionFolder.create(dir, id, []);
    expect(folder.claim(other)).toBe(true);
    folder.writeStarted({ leader: other, startedAt: new Date().toISOString() });
    expect(await driverIn(dir).recover(id)).toMatchObject({ kind: 'ended', exit: { lost: true } });
    await driverIn(dir).remove(id);
    expect(isAlive(ref)).toBe(true);
  });

  test('a process with the number of the leader does not belong to the tree', () => {
    const self = listProcesses().find(({ pid }) => pid === process.pid);
    const other = { pid: process.pid, startTicks: (self?.startTicks ?? 0) - 1 };
    expect(isAlive(other)).toBe(false);
    expect(membersOf({ id: 'nobody', leader: other })).toEqual([]);
  });

  test('a session that replaces its own files by pipes delays nobody', async () => {
    const script = `launch=$(echo ../../.$(basename "$(dirname "$PWD")")/launch-*)
      for name in activity started.json ended.json ended.json.new
      do rm -f "$launch/$name" && mkfifo "$launch/$name"; done; echo done`;
    const session = await driverIn(dir).spawn(spec(script));
    expect(await session.exit).toMatchObject({ exitCode: 0, lost: false, output: 'done' });
  });

  test('a session is lost at once if its end is a pipe after a restart', async () => {
    const id = newId();
    const folder = SessionFolder.create(dir, id, []);
    folder.claim({ pid: 1, startTicks: 0 });
    execFileSync('mkfifo', [
      join(folder.launch, 'started.json'),
      join(folder.launch, 'ended.json'),
    ]);
    expect(await driverIn(dir).recover(id)).toMatchObject({ kind: 'ended', exit: { lost: true } });
  });

  test('a session leaves no folder behind, and its own folder is private', async () => {
    const session = await driverIn(dir).spawn(spec('umask; ls -ld . ..; touch x; mkdir -p a/b'));
    const { output } = await session.exit;
    expect(output.match(/^drwx------ /gm)).toHaveLength(2);
    await driverIn(dir).remove(session.id);
    expect(readdirSync(dir)).not.toContain(session.id);
  });
});
