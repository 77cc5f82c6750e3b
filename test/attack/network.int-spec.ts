import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createListener } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '#lib/kernel';
import type { SessionSpec, SessionUser } from '#lib/session-runtime';
import { ProcessDriver } from '../../libs/hosts/session-runtime/process/process-driver.js';
import { testSandbox } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { selfSigned } from '../support/certificates.js';
import { waitFor } from '../support/wait-for.js';

const ACCOUNT = { uid: 1_900_200_003, gid: 1_900_200_003 };
const TOKEN = 'token-of-the-run';
const isRoot = process.getuid?.() === 0;
const sandbox = await testSandbox();

const USERS: [string, SessionUser | undefined][] = [
  ['the host’s user', undefined],
  ...(isRoot ? [['an account of its own', ACCOUNT] as [string, SessionUser]] : []),
];

/** A server that answers with its name and keeps `/stream` open. */
class StandIn {
  readonly streams = new Set<ServerResponse>();
  readonly requests: IncomingMessage[] = [];
  private readonly server: Server;

  constructor(
    private readonly name: string,
    private readonly identity?: { key: Buffer; cert: Buffer },
  ) {
    const handle = (request: IncomingMessage, answer: ServerResponse): unknown => {
      this.requests.push(request);
      if (request.url !== '/api/v1/stream') return request.pipe(answer.writeHead(201, { name }));
      this.streams.add(answer);
      answer.on('close', () => this.streams.delete(answer));
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.write('data: first\n\n');
    };
    this.server = identity ? createSecureServer(identity, handle) : createServer(handle);
  }

  async start(path?: string): Promise<void> {
    this.server.listen(path === undefined ? { port: 0, host: '127.0.0.1' } : { path });
    await once(this.server, 'listening');
  }

  get origin(): string {
    const protocol = this.identity ? 'https' : 'http';
    return `${protocol}://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

const certificates = mkdtempSync(join(tmpdir(), 'drover-certificates-'));

const identity = selfSigned(certificates, 'IP:127.0.0.1');
afterAll(() => rmSync(certificates, { recursive: true }));

describe.each(sandbox === undefined ? [] : USERS)('A session of %s', (_, user) => {
  const dir = mkdtempSync(join(tmpdir(), 'drover-network-'));
  const driverWith = (serverSocket?: string, trust?: Record<string, string>) =>
    new ProcessDriver({
      dir: join(dir, 'sessions'),
      accounts: user && (() => user),
      searchPath: process.env['PATH'] ?? '',
      sandbox,
      serverSocket,
      trust,
    });
  const driver = driverWith();
  const serverSocket = join(dir, 'server.sock');
  const server = new StandIn('server');
  const other = new StandIn('other');
  const abstract = createListener((socket) => socket.end());
  const abstractName = `drover-${newId()}`;

  beforeAll(async () => {
    chmodSync(dir, 0o711);
    await Promise.all([server.start(), other.start()]);
    abstract.listen(`\0${abstractName}`);
    await once(abstract, 'listening');
  });

  afterAll(() => {
    for (const each of [server, other]) each.stop();
    abstract.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const start = (script: string, of = server, more: Partial<SessionSpec> = {}, by = driver) =>
    by.spawn({
      id: newId(),
      command: [process.execPath, '--input-type=module', '-e', script],
      env: { DROVER_API_URL: `${of.origin}/api/v1`, DROVER_RUN_TOKEN: TOKEN },
      secrets: [],
      files: {},
      ...more,
    });

  async function linesOf(
    script: string,
    of?: StandIn,
    more?: Partial<SessionSpec>,
    by?: ProcessDriver,
  ) {
    const session = await start(script, of, more, by);
    const { output } = await session.exit;
    await driver.remove(session.id);
    return output.trim().split('\n');
  }

  const ATTEMPTS = `
    import { connect } from 'node:net';
    const reach = (target) => new Promise((resolve) => {
      const socket = connect(target);
      socket.on('connect', () => resolve('reached')).on('error', () => resolve('refused'));
    });`;
  const attemptsAt = () => {
    const ports = [server, other].map(({ origin }) => Number(new URL(origin).port));
    const targets = ports.map((port) => ({ port, host: '127.0.0.1' }));
    return `${ATTEMPTS}
    for (const target of ${JSON.stringify(targets)}) console.log(await reach(target));
    console.log(await reach({ path: ${JSON.stringify(`\0${abstractName}`)} }));
    process.exit();`;
  };

  test('reaches no port and no abstract socket of the machine', async () => {
    expect(await linesOf(attemptsAt())).toEqual(['refused', 'refused', 'refused']);
    const open = await linesOf(attemptsAt(), server, { network: 'host' });
    expect(open).toEqual(['reached', 'reached', 'reached']);
  });

  test('reaches the server at DROVER_API_URL with the token of its run', async () => {
    const script = `
      const { DROVER_API_URL: url, DROVER_RUN_TOKEN: token } = process.env;
      const headers = { authorization: 'Bearer ' + token };
      const answer = await fetch(url + '/runs?a=b', { method: 'POST', headers, body: 'said' });
      console.log(new URL(url).port, answer.status, answer.headers.get('name'), await answer.text());`;
    const [line] = await linesOf(script);
    expect(line).toMatch(/^\d+ 201 server said$/);
    expect(line).not.toContain(new URL(server.origin).port);
    const { url, method, headers } = server.requests.at(-1)!;
    expect({ url, method }).toEqual({ url: '/api/v1/runs?a=b', method: 'POST' });
    expect(headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      host: new URL(server.origin).host,
    });
  });

  test('reaches nothing else through the forwarder', async () => {
    const script = `
      import { request } from 'node:http';
      const { hostname, port } = new URL(process.env.DROVER_API_URL);
      for (const path of ['${other.origin}/', '//${new URL(other.origin).host}/', 'https://example.org/']) {
        const status = await new Promise((resolve) =>
          request({ hostname, port, path }, ({ statusCode }) => resolve(statusCode)).end());
        console.log(status);
      }
      process.exit();`;
    const before = other.requests.length;
    expect(await linesOf(script)).toEqual(['404', '404', '404']);
    expect(other.requests).toHaveLength(before);
  });

  test('does not reach the forwarder of another session', async () => {
    const neighbour = await start('setInterval(() => {}, 1000)', other);
    const script = `
      import { existsSync } from 'node:fs';
      const answer = await fetch(process.env.DROVER_API_URL);
      console.log(answer.headers.get('name'));
      console.log(existsSync('${dir}/sessions/.${neighbour.id}'));`;
    expect(await linesOf(script)).toEqual(['server', 'false']);
    neighbour.stop(0);
    await neighbour.exit;
    await driver.remove(neighbour.id);
  });

  test('reads a stream, which ends with the session', async () => {
    const session = await start(`
      const answer = await fetch(process.env.DROVER_API_URL + '/stream');
      for await (const chunk of answer.body) console.log(Buffer.from(chunk).toString().trim());`);
    await waitFor('the stream', () => server.streams.size === 1);
    // Its first output: the first event has arrived.
    await waitFor('an event', () => session.lastActivityAt() > session.startedAt);
    session.stop(0);
    expect((await session.exit).output.trim()).toBe('data: first');
    await waitFor('the end of the stream', () => server.streams.size === 0);
    await driver.remove(session.id);
  });

  test('reaches a server by its Unix socket, if the host knows it', async () => {
    const local = new StandIn('local');
    await local.start(serverSocket);
    const script = `
      const answer = await fetch(process.env.DROVER_API_URL);
      console.log(answer.headers.get('name'));`;
    expect(await linesOf(script, other, {}, driverWith(serverSocket))).toEqual(['local']);
    local.stop();
  });

  (identity ? test : test.skip)(
    'reaches an https server only if the host trusts its certificate',
    async () => {
      const secure = new StandIn('secure', identity);
      await secure.start();
      const script = `
      const { DROVER_API_URL: url, DROVER_RUN_TOKEN: token } = process.env;
      const answer = await fetch(url, { headers: { authorization: 'Bearer ' + token } });
      console.log(new URL(url).protocol, answer.status, answer.headers.get('name'));
      if (answer.status === 502) console.log((await answer.json()).detail);`;
      const trusting = driverWith(undefined, { NODE_EXTRA_CA_CERTS: identity!.file });
      expect(await linesOf(script, secure, {}, trusting)).toEqual(['http: 201 secure']);
      expect(secure.requests.map(({ headers }) => headers.authorization)).toEqual([
        `Bearer ${TOKEN}`,
      ]);
      expect(await linesOf(script, secure)).toEqual([
        'http: 502 null',
        'The server cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT).',
      ]);
      expect(secure.requests).toHaveLength(1);
      secure.stop();
    },
  );

  test('leaves the forwarder alive when it breaks requests off', async () => {
    const script = `
      import { connect } from 'node:net';
      const { DROVER_API_URL: url } = process.env;
      const { hostname: host, port } = new URL(url);
      for (let i = 0; i < 20; i += 1) {
        const socket = connect({ host, port });
        socket.on('error', () => undefined);
        await new Promise((resolve) => socket.on('connect', resolve));
        socket.write('POST /api/v1/x HTTP/1.1\\r\\nhost: a\\r\\ncontent-length: 9\\r\\n\\r\\n' + 'x'.repeat(i % 9));
        if (i % 2) socket.write('\\0\\0');
        await new Promise((resolve) => setTimeout(resolve, 5));
        socket.resetAndDestroy();
      }
      console.log((await fetch(url)).status);`;
    expect(await linesOf(script)).toEqual(['201']);
  });

  test('a server that is away is reported as a bad gateway', async () => {
    const gone = new StandIn('gone');
    await gone.start();
    const env = { DROVER_API_URL: `${gone.origin}/api/v1` };
    gone.stop();
    const script = `
      const answer = await fetch(process.env.DROVER_API_URL);
      console.log(answer.status, (await answer.json()).detail);`;
    expect(await linesOf(script, server, { env })).toEqual([
      '502 The server cannot be reached (ECONNREFUSED).',
    ]);
  });
});
