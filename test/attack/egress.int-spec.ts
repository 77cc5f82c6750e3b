import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer as createListener, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, type Reach } from '#lib/kernel';
import type { OutputSink, SessionUser } from '#lib/session-runtime';
import { ProcessDriver } from '../../libs/hosts/session-runtime/process/process-driver.js';
import { testSandbox } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { waitFor } from '../support/wait-for.js';

/** The sessions of a root host have a user of their own, who must be able to use the socket. */
const USER: SessionUser | undefined =
  process.getuid?.() === 0 ? { uid: 1_900_200_004, gid: 1_900_200_004 } : undefined;
const sandbox = await testSandbox();
const NOTE = 'drover: ';
const hasCurl = existsSync('/usr/bin/curl');

/** Two web servers of this machine, and a server that repeats its input. */
class World {
  readonly dir = mkdtempSync(join(tmpdir(), 'drover-egress-'));
  readonly requests: IncomingMessage[] = [];
  readonly tunnels = new Set<Socket>();
  private readonly servers = [1, 2].map(() =>
    createServer((request, answer) => {
      this.requests.push(request);
      const away = { location: 'http://127.0.0.1/elsewhere' };
      request.pipe(answer.writeHead(request.url === '/away' ? 302 : 200, away));
    }),
  );
  private readonly echo = createListener((socket) => {
    this.tunnels.add(socket);
    socket.on('close', () => this.tunnels.delete(socket)).on('error', () => undefined);
    socket.pipe(socket);
  });

  async start(): Promise<void> {
    const all = [...this.servers, this.echo];
    await Promise.all(all.map((each) => once(each.listen(0, '127.0.0.1'), 'listening')));
  }

  stop(): void {
    for (const server of this.servers) server.closeAllConnections();
    for (const each of [...this.servers, this.echo]) each.close();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** The ports: one that sessions can reach, one that they cannot, and the one of the tunnels. */
  get ports(): { open: number; closed: number; echo: number } {
    const [open = 0, closed = 0, echo = 0] = [...this.servers, this.echo].map(
      (each) => (each.address() as AddressInfo).port,
    );
    return { open, closed, echo };
  }
}

(sandbox === undefined ? describe.skip : describe)('A session with `allow`', () => {
  const world = new World();
  let driver: ProcessDriver;
  let hosts: string[];
  /** What the host wrote into the last output. */
  let noted: string[] = [];

  beforeAll(async () => {
    await world.start();
    const { open, echo, closed } = world.ports;
    const privateHosts = [`localhost:${open}`, `localhost:${echo}`];
    hosts = [...privateHosts, `127.0.0.1:${closed}`];
    driver = new ProcessDriver({
      dir: join(world.dir, 'sessions'),
      accounts: USER && (() => USER),
      searchPath: process.env['PATH'] ?? '',
      sandbox: { ...sandbox!, network: 'allow', allowedHosts: hosts, privateHosts },
    });
  });

  afterAll(() => {
    driver.close();
    world.stop();
  });

  const start = (script: string, allowedHosts: Reach['allowedHosts'], output?: OutputSink) =>
    driver.spawn({
      id: newId(),
      command: [process.execPath, '--input-type=module', '-e', script],
      env: {},
      secrets: ['secret-of-the-task'],
      files: {},
      network: 'allow',
      allowedHosts,
      output,
    });

  async function linesOf(script: string, allowedHosts: Reach['allowedHosts'] = [hosts]) {
    const session = await start(`${HELP}${script}`, allowedHosts);
    const { output } = await session.exit;
    await driver.remove(session.id);
    const all = output.trim().split('\n');
    noted = all.filter((line) => line.startsWith(NOTE));
    return all.filter((line) => !line.startsWith(NOTE));
  }

  /** `get` and `tunnel` use the proxy by hand, and `reach` does not. */
  const HELP = `
    import { request } from 'node:http';
    import { connect } from 'node:net';
    import { text } from 'node:stream/consumers';
    const proxy = new URL(process.env.HTTP_PROXY);
    const at = { hostname: proxy.hostname, port: proxy.port };
    const say = (...words) => console.log(...words);
    const get = (path, headers = {}) => new Promise((resolve) =>
      request({ ...at, path, headers: { host: 'x', ...headers }, agent: false }, async (answer) =>
        resolve({ status: answer.statusCode, text: (await text(answer)).trim(), headers: answer.headers })).end());
    const tunnel = (path) => new Promise((resolve) =>
      request({ ...at, path, method: 'CONNECT' }).on('connect', async ({ statusCode: status }, socket, head) =>
        resolve({ status, socket, text: status === 200 ? '' : head + (await text(socket)) })).end());
    const reach = (target) => new Promise((resolve) => {
      const socket = connect(target);
      socket.on('connect', () => resolve('reached')).on('error', ({ code }) => resolve(code));
    });`;

  test('fetches an allowed host by its environment, and nothing else', async () => {
    const { open, closed } = world.ports;
    const lines = await linesOf(`
      const { NO_PROXY, no_proxy, HTTPS_PROXY, https_proxy, ALL_PROXY, all_proxy } = process.env;
      say(NO_PROXY === no_proxy, new Set([HTTPS_PROXY, https_proxy, ALL_PROXY, all_proxy]).size);
      import { spawnSync } from 'node:child_process';
      const env = { ...process.env, NO_PROXY: '', no_proxy: '' };
      for (const port of [${open}, ${closed}]) {
        const ask = 'fetch("http://localhost:' + port + '/x").then(async (answer) => ' +
          'console.log(answer.status, await answer.text()), ({ cause }) => console.log(cause.message))';
        say(spawnSync(process.execPath, ['-e', ask], { env }).stdout.toString().trim());
      }`);
    expect(lines.slice(0, 2)).toEqual(['true 1', '200']);
    expect(lines[2]).not.toMatch(/^200/);
    expect(noted).toEqual([expect.stringMatching(/ refused localhost:\d+: a list of/)]);
  });

  (hasCurl ? test : test.skip)('curl reaches an allowed host, and is refused another', async () => {
    const { open, closed } = world.ports;
    const lines = await linesOf(`
      import { spawnSync } from 'node:child_process';
      for (const url of ['http://localhost:${open}/', 'http://localhost:${closed}/', 'https://localhost:${closed}/']) {
        const args = ['-s', '-o', '/dev/null', '-w', '%{http_code} %{http_connect}', '--noproxy', '', url];
        say(spawnSync('curl', args).stdout.toString());
      }`);
    expect(lines).toEqual(['200 000', '403 000', '000 403']);
  });

  test('reaches no address without the proxy', async () => {
    const { open } = world.ports;
    const lines = await linesOf(`
      say(await reach({ host: '127.0.0.1', port: ${open} }));
      say(await reach({ host: '192.0.2.1', port: 80 }));
      say(await reach({ host: '2001:db8::1', port: 80 }));
      process.exit();`);
    expect(lines).toEqual(['ECONNREFUSED', 'ENETUNREACH', 'ENETUNREACH']);
  });

  test('tunnels to an allowed host, whatever its header says', async () => {
    const { echo, closed } = world.ports;
    const lines = await linesOf(`
      const { status, socket } = await tunnel('localhost:${echo}');
      socket.write('through');
      socket.once('data', async (data) => {
        say(status, String(data));
        say((await tunnel('localhost:${closed}')).status);
        process.exit();
      });`);
    expect(lines).toEqual(['200 through', '403']);
  });

  test('is refused an address of the machine that its lists name', async () => {
    const { closed } = world.ports;
    const lines = await linesOf(`
      for (const host of ['127.0.0.1', '0x7f.1']) {
        const { status, text } = await tunnel(host + ':${closed}');
        say(status, text.trim());
      }`);
    const [first, second] = lines;
    expect(first).toMatch(/^403 Drover's network policy refuses 127.0.0.1:\d+: its address is not/);
    expect(second).toBe(first);
  });

  test('narrows the hosts of its machine, and cannot add one', async () => {
    const { open, echo } = world.ports;
    const script = `
      for (const port of [${open}, ${echo}]) say((await tunnel('localhost:' + port)).status);
      process.exit();`;
    expect(await linesOf(script, [['*:*']])).toEqual(['200', '200']);
    expect(await linesOf(script, [[`localhost:${open}`]])).toEqual(['200', '403']);
    expect(await linesOf(script, [['*:*'], []])).toEqual(['403', '403']);
  });

  test('gets a redirect as it is, and its own credentials and hosts in headers reach nobody else', async () => {
    const { open, closed } = world.ports;
    const before = world.requests.length;
    const lines = await linesOf(`
      say((await get('http://localhost:${open}/away')).status);
      const headers = { host: 'localhost:${closed}', 'proxy-authorization': 'Basic eDp5' };
      say((await get('http://localhost:${open}/own', headers)).status);
      say((await get('http://user:word@localhost:${open}/')).status);
      say((await get('/')).status, (await get('https://localhost:${open}/')).status);`);
    expect(lines).toEqual(['302', '200', '400', '400 400']);
    const made = world.requests.slice(before);
    expect(made.map(({ url }) => url)).toEqual(['/away', '/own']);
    expect(made[1]?.headers.host).toBe(`localhost:${open}`);
    expect(made[1]?.headers).not.toHaveProperty('proxy-authorization');
  });

  test('cannot use the proxy of another session', async () => {
    const { open } = world.ports;
    const neighbour = await start('setInterval(() => {}, 1000)', [hosts]);
    const folder = `${world.dir}/sessions/.${neighbour.id}`;
    const lines = await linesOf(
      `
      import { existsSync, readdirSync } from 'node:fs';
      say((await tunnel('localhost:${open}')).status, existsSync('${folder}'));
      say(readdirSync('/run').filter((name) => name.startsWith('drover-service')).length);`,
      [[]],
    );
    expect(lines).toEqual(['403 false', '1']);
    neighbour.stop(0);
    await neighbour.exit;
    await driver.remove(neighbour.id);
  });

  test('loses its tunnels when it ends', async () => {
    const { echo } = world.ports;
    const before = world.tunnels.size;
    const script = `${HELP} await tunnel('localhost:${echo}'); setInterval(() => {}, 1000);`;
    const session = await start(script, [hosts]);
    await waitFor('the tunnel', () => world.tunnels.size > before);
    session.stop(0);
    await session.exit;
    await waitFor('the end of the tunnel', () => world.tunnels.size === before);
    await driver.remove(session.id);
  });

  test('has its refusals in the log of its reader', async () => {
    const notes: string[] = [];
    const sink = {
      write: () => undefined,
      note: (note: string) => void notes.push(note),
      end: () => undefined,
    };
    const script = `${HELP} for (const name of ['a', 'b', 'a']) await tunnel(name + '.example:443');`;
    const session = await start(script, [hosts], sink);
    await session.exit;
    await driver.remove(session.id);
    const why = 'a list of allowed hosts does not name it';
    expect(notes).toEqual(
      ['a', 'b'].map((name) => `The network policy refused ${name}.example:443: ${why}`),
    );
  });

  test('has no secret of its task in its log', async () => {
    const lines = await linesOf(`
      await tunnel('secret-of-the-task.example:443');`);
    expect(noted).toEqual([expect.stringMatching(/ refused \S+\.example:443: /)]);
    expect(noted.concat(lines).join()).not.toContain('secret-of-the-task');
  });
});
