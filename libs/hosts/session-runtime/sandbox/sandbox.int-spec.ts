import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { newId } from '#lib/kernel';
import type { SessionSpec } from '../drivers/driver.js';
import { ProcessDriver } from '../process/process-driver.js';
import type { SessionUser } from '../process/session-folder.js';
import { whyNoSession } from './open-sandbox.js';
import type { Sandbox } from './sandbox.js';
import { processesWith } from '../testing/processes.js';
import { testSandbox } from '../testing/sandboxes.js';

const SECRET = 'what-nobody-else-may-read';
const OTHER = { uid: 54_321, gid: 54_321 };
const sandbox = await testSandbox();
const isRoot = process.getuid?.() === 0;
/** Prints the number of the session keyring: keyctl(KEYCTL_GET_KEYRING_ID). x86-64 only. */
const KEYRING = ['-e', 'print syscall(250, 0, -3, 0)'];
const keyring = process.arch === 'x64' ? execFileSync('perl', KEYRING, { encoding: 'utf8' }) : '-1';

/** The users of the tests. Only root can start a process as another user. */
const USERS: [string, SessionUser | undefined][] = [
  ['the host’s user', undefined],
  ...(isRoot ? [['another user', OTHER] as [string, SessionUser]] : []),
];

const cases = describe.each(sandbox === undefined ? [] : USERS);

cases('A session of %s', (_, user) => {
  /** Every user can read and write here: only the sandbox prevents it. */
  const world = mkdtempSync(join(tmpdir(), 'drover-world-'));
  const home = join(world, 'home');
  const dir = join(world, 'sessions');
  /** Only the host's user can enter this folder. */
  const file = join(world, 'closed/bwrap');
  const program = { env: {}, ...sandbox?.program, file };
  let server: Server;
  let other: ChildProcess;
  let neighbour: string;

  const driverOf = (sandboxed: boolean, more: Partial<Sandbox> = {}) =>
    new ProcessDriver({
      dir,
      accounts: user && (() => user),
      searchPath: process.env['PATH'] ?? '',
      ...(sandboxed && { sandbox: { ...sandbox!, program, hidden: [home], ...more } }),
    });

  const specOf = (script: string, more: Partial<SessionSpec> = {}): SessionSpec => ({
    id: newId(),
    command: ['sh', '-c', script],
    env: {},
    secrets: [],
    files: { DROVER_TASK_FILE: { name: 'task.json', content: '{}' } },
    ...more,
  });

  async function outputOf(sandboxed: boolean, script: string, more?: Partial<SessionSpec>) {
    return (await endOf(driverOf(sandboxed), script, more)).output;
  }

  async function endOf(driver: ProcessDriver, script: string, more?: Partial<SessionSpec>) {
    const session = await driver.spawn(specOf(script, more));
    const exit = await session.exit;
    await driver.remove(session.id);
    return exit;
  }

  beforeAll(async () => {
    chmodSync(world, 0o777);
    mkdirSync(join(world, 'closed'), { mode: 0o700 });
    cpSync(sandbox!.program.file, file);
    mkdirSync(home);
    writeFileSync(join(home, 'secrets.json'), SECRET);
    chmodSync(home, 0o777);
    server = createServer((_request, response) => response.end(SECRET)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    other = spawn('sleep', ['1000'], { env: { OF_THE_SERVER: SECRET }, ...user });
    const driver = driverOf(true);
    neighbour = newId();
    const task = { DROVER_TASK_FILE: { name: 'task.json', content: SECRET } };
    await driver.spawn(specOf('sleep 1000', { id: neighbour, files: task }));
  });

  afterAll(async () => {
    await driverOf(true).remove(neighbour);
    other.kill('SIGKILL');
    server.close();
    rmSync(world, { recursive: true, force: true });
  });

  test('a session inherits no open file of its host', async () => {
    const wrapper = join(world, 'closed/wrapper');
    const held = join(world, 'home/secrets.json');
    writeFileSync(wrapper, `#!/bin/sh\nexec 9<'${held}'\nexec '${file}' "$@"\n`, { mode: 0o700 });
    const driver = driverOf(true, { program: { ...program, file: wrapper } });
    const { output } = await endOf(driver, 'cat <&9; ls /proc/self/fd');
    expect(output).not.toContain(SECRET);
    expect(output).toMatch(/^0\n1\n2\n/m);
  });

  (Number(keyring) > 0 ? test : test.skip)(
    'a session has another session keyring than its host',
    async () => {
      const wrapper = join(world, 'closed/keyring');
      const found = join(world, 'keyring');
      const look = `perl ${KEYRING[0]} '${KEYRING[1]}' > '${found}'`;
      writeFileSync(wrapper, `#!/bin/sh\n${look}\nexec '${file}' "$@"\n`, { mode: 0o700 });
      const driver = driverOf(true, { program: { ...program, file: wrapper } });
      expect(await endOf(driver, 'true')).toMatchObject({ exitCode: 0 });
      const own = readFileSync(found, 'utf8');
      expect(Number(own)).toBeGreaterThan(0);
      expect(own).not.toBe(keyring);
    },
  );

  test('a sandbox that waits for its session ends when the late parts are refused', async () => {
    const id = newId();
    const refusal = new Error('no words');
    const made = () => processesWith(join(dir, id));
    const refuseOnceMade = async (): Promise<never> => {
      while (made().length === 0) await setImmediate();
      throw refusal;
    };
    const driver = driverOf(true);
    const output = { write: () => undefined, note: () => undefined, end: () => undefined };
    const spec = { ...specOf('', { id, output }), command: refuseOnceMade() };
    await expect(driver.spawn(spec)).rejects.toBe(refusal);
    expect(made()).toEqual([]);
    expect(await driver.list()).not.toContain(id);
  });

  test('a sandbox that cannot be made says why, without waiting for the late parts', async () => {
    const failing = { ...program, file: join(world, 'failing') };
    writeFileSync(failing.file, '#!/bin/sh\necho "no room for namespaces" >&2; exit 1', {
      mode: 0o755,
    });
    const driver = driverOf(true, { program: failing });
    const output = { write: () => undefined, note: () => undefined, end: () => undefined };
    const spec = { ...specOf('', { output }), command: new Promise<never>(() => undefined) };
    await expect(driver.spawn(spec)).rejects.toThrow('no room for namespaces');
    const env = { TOO_LONG: 'x'.repeat(200_000) };
    const unable = driverOf(true, { program: { ...program, env } });
    await expect(unable.spawn({ ...spec, id: newId() })).rejects.toThrow(
      'The sandbox could not be made: E2BIG',
    );
  });

  test('a session cannot read a hidden file in a shown folder, even through a link', async () => {
    const shown = join(world, 'shown');
    mkdirSync(join(shown, 'real'), { recursive: true });
    for (const name of ['secret.txt', 'real/secret.txt']) writeFileSync(join(shown, name), SECRET);
    symlinkSync(join(shown, 'real'), join(shown, 'link'));
    const script = `cat ${shown}/secret.txt ${shown}/link/secret.txt ${shown}/real/secret.txt 2>&1`;
    const open = driverOf(true, { shown: [shown] });
    expect((await endOf(open, script)).output).toContain(SECRET);
    const hidden = [join(shown, 'secret.txt'), join(shown, 'link')];
    const closed = driverOf(true, { shown: [shown], hidden });
    expect((await endOf(closed, script)).output).not.toContain(SECRET);
  });

  /** Each prints SECRET if it succeeds. */
  const attempts: [string, () => string, Partial<SessionSpec>?][] = [
    ['reads a program’s environment', () => `cat /proc/${other.pid}/environ | tr '\\0' ' '`],
    ['reads Drover’s home', () => `cat ${home}/secrets.json`],
    ['reads a neighbour’s task', () => `cat ${dir}/${neighbour}/task.json`],
    ['sees a neighbour’s folder', () => `ls ${dir}/${neighbour} && echo ${SECRET}`],
    ['writes outside', () => `echo x > ${home}/new && echo ${SECRET}`],
    ['signals a program', () => `kill -0 ${other.pid} && echo ${SECRET}`],
    ['sees other processes', () => `ls -d /proc/${other.pid} && echo ${SECRET}`],
    ['uses the network', () => fetchFrom(server)],
  ];
  const unlessOther = ['sees a neighbour’s folder', 'reads a neighbour’s task'];

  test.each(attempts)('a session %s without a sandbox, and cannot in one', async (...attempt) => {
    const [name, script, more] = attempt;
    const bare = await outputOf(false, script());
    // A session can read, but not list, the folder of another session of the same user.
    if (user === undefined || !unlessOther.includes(name)) expect(bare).toContain(SECRET);
    expect(await outputOf(true, script(), more)).not.toContain(SECRET);
  });

  test('a session with the same path as others sees its folder there', async () => {
    const script =
      'pwd; echo $HOME $TMPDIR $DROVER_TASK_FILE; cat $DROVER_TASK_FILE; echo x >new; ls';
    const exit = await endOf(driverOf(true), script, { samePath: true });
    const paths = '/run/agent/work /run/agent/tmp /run/agent/task.json';
    expect(exit.output).toBe(`/run/agent/work\n${paths}\n{}new`);
    expect(exit.exitCode).toBe(0);
  });

  test('a session without a network reaches the services of its host, and nothing else', async () => {
    const socket = join(world, 'service.sock');
    const service = createServer((_request, response) => response.end('served')).listen(socket);
    await once(service, 'listening');
    chmodSync(socket, 0o666);
    const at = (port: number) => `fetch('http://127.0.0.1:${port}').then(r => r.text())`;
    const { port } = server.address() as AddressInfo;
    const script = `node -e "${at(6180)}.then(console.log).then(() => ${at(port)}).catch(() => console.log('closed'))"`;
    const services = [{ port: 6180, socket }];
    const exit = await endOf(driverOf(true), script, { network: 'none', services });
    service.close();
    expect(exit.output).toBe('served\nclosed');
  });

  test('a session works in a shared folder, and no link leads it out', async () => {
    const within = join(world, 'shared');
    mkdirSync(join(within, 'project'), { recursive: true });
    if (user) chownSync(join(within, 'project'), user.uid, user.gid);
    symlinkSync(home, join(within, 'way-out'));
    const script = 'pwd; cat secrets.json; echo x > new && cat new';
    const inIt = await outputOf(true, script, { cwd: join(within, 'project'), within });
    expect(inIt.split('\n')).toEqual(expect.arrayContaining([`${within}/project`, 'x']));
    const out = outputOf(true, script, { cwd: join(within, 'way-out'), within });
    expect(await out.catch(String)).not.toContain(SECRET);
  });

  test('a session reaches its own folder, the network and the programs of the system', async () => {
    const script = `
      echo mine > file && cat file; echo x > /tmp/own && cat "$TMPDIR/own"
      cat "$DROVER_TASK_FILE"; echo; ls ${tmpdir()}/drover-world-* 2>/dev/null | grep -c home
      ${fetchFrom(server)}`;
    const output = await outputOf(true, script, { network: 'host' });
    expect(output.split('\n')).toEqual(['mine', 'x', '{}', '0', SECRET]);
  });

  test('a session leaves no core dump', async () => {
    const { output } = await endOf(driverOf(true), 'cat /proc/self/limits');
    expect(output).toMatch(/^Max core file size +0 +0 /m);
  });

  test('a session can change no setting of the machine', async () => {
    // `/dev/null` covers some files: a session can write them, and they keep nothing.
    const script = `
      find /proc /sys -path '/proc/[0-9]*' -prune -o -type f -writable -print 2>/dev/null |
        while read -r file; do [ -f "$file" ] && echo "$file"; done | head`;
    expect(await outputOf(true, script)).toBe('');
  });

  test('a session has no privileges, no homes and only its own environment', async () => {
    const script = `
      grep CapEff /proc/self/status; find ${homedir()} -maxdepth 1 -type f | wc -l
      env | grep -c LD_LIBRARY_PATH
      touch /usr/x 2>&1 | grep -o 'Read-only file system'`;
    const output = await outputOf(true, script);
    expect(output).toMatch(/CapEff:\t0000000000000000\n0\n0\nRead-only file system$/);
  });
});

(isRoot && sandbox !== undefined ? test : test.skip).each(['755', '711', '700'])(
  'a root host has sandboxes if its folder lies in a hidden one of mode %s',
  async (mode) => {
    // Temporary folders are hidden by themselves.
    const home = mkdtempSync('/srv/drover-home-');
    const dir = join(home, 'worker/runs');
    const { PATH: searchPath = '' } = process.env;
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      chmodSync(home, mode);
      const hidden = [home, join(home, 'worker')];
      const trial = { dir, searchPath, user: OTHER, sandbox: { ...sandbox!, hidden } };
      expect(await whyNoSession(trial)).toBeUndefined();
    } finally {
      rmSync(home, { recursive: true });
    }
  },
);

/** A command that prints the answer of a server of this machine. */
function fetchFrom(server: Server): string {
  const { port } = server.address() as AddressInfo;
  const script = `fetch('http://127.0.0.1:${port}').then(async (r) => console.log(await r.text()))`;
  return `exec node -e "${script}"`;
}
