import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type RequestListener,
  type Server,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type HostCredential, newId } from '#lib/kernel';
import { selfSigned } from '../../../../test/support/certificates.js';
import type { CredentialSource } from './egress.js';
import { EgressProxy } from './egress-proxy.js';

const dir = mkdtempSync(join(tmpdir(), 'drover-credentials-'));
const identity = selfSigned(dir, 'DNS:registry.test', 'IP:127.0.0.1');
const VALUE = 'Bearer canary-of-a-host';
const trusted = getCACertificates();
/** The headers of each request, by the name of the server. */
const received: [server: string, url: string | undefined, headers: IncomingHttpHeaders][] = [];
const proxies: EgressProxy[] = [];
const ports = { plain: 0, secure: 0 };

const listener = (name: string): RequestListener => {
  return (incoming, answer) => {
    received.push([name, incoming.url, incoming.headers]);
    const location = incoming.headers['x-location'];
    if (typeof location === 'string') answer.writeHead(302, { location });
    incoming.resume().on('end', () => answer.end('answered'));
  };
};
const servers: [keyof typeof ports, Server][] = [['plain', createServer(listener('plain'))]];
if (identity) servers.push(['secure', createSecureServer(identity, listener('secure'))]);

beforeAll(async () => {
  if (identity) setDefaultCACertificates([...trusted, readFileSync(identity.file, 'utf8')]);
  for (const [name, server] of servers) {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ports[name] = (server.address() as AddressInfo).port;
  }
});
afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.close();
  received.length = 0;
});
afterAll(() => {
  setDefaultCACertificates(trusted);
  for (const [, server] of servers) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(dir, { recursive: true });
});

const ofPlain = (more: Partial<HostCredential> = {}): HostCredential => ({
  host: `registry.test:${ports.plain}`,
  scheme: 'http',
  header: 'authorization',
  value: VALUE,
  ...more,
});
const ofSecure = (more: Partial<HostCredential> = {}): HostCredential =>
  ofPlain({ host: `registry.test:${ports.secure}`, scheme: 'https', ...more });

/** A proxy that admits all names of this machine. */
async function aProxy(credentials: CredentialSource, privateHosts = privateOnes()) {
  const socket = join(dir, newId());
  const resolve = () => Promise.resolve(['127.0.0.1']);
  const egress = { socket, allowedHosts: [['*:*']], privateHosts, credentials };
  const proxy = await EgressProxy.open(egress, { public: resolve, internal: resolve });
  const notes: string[] = [];
  proxy.onNote = (note) => notes.push(note);
  proxies.push(proxy);
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const outgoing = request({ socketPath: socket, path, headers, method, agent: false }).end();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const body = await text(answer);
    return { status: answer.statusCode, headers: answer.headers, body };
  };
  return { ask, notes, socket };
}

const privateOnes = () =>
  ['registry.test', 'other.test'].flatMap((name) => [
    `${name}:${ports.plain}`,
    `${name}:${ports.secure}`,
  ]);

test('a credential that changes or is removed counts for the next request', async () => {
  let current = [ofPlain()];
  const { ask, socket } = await aProxy(() => Promise.resolve(current));
  const url = `http://registry.test:${ports.plain}`;
  // This connection lives on: the proxy reads its requests.
  const tunnel = await tunnelTo(`registry.test:${ports.plain}`, socket);
  const inTunnel = async (path: string) => {
    tunnel.write(`GET ${path} HTTP/1.1\r\nHost: registry.test:${ports.plain}\r\n\r\n`);
    await once(tunnel, 'data');
  };
  await ask(`${url}/a`);
  await inTunnel('/b');
  current = [ofPlain({ value: 'Bearer new' })];
  await ask(`${url}/c`);
  await inTunnel('/d');
  current = [];
  await ask(`${url}/e`);
  await inTunnel('/f');
  tunnel.destroy();
  expect(received.map(([, path, { authorization }]) => [path, authorization])).toEqual([
    ['/a', VALUE],
    ['/b', VALUE],
    ['/c', 'Bearer new'],
    ['/d', 'Bearer new'],
    ['/e', undefined],
    ['/f', undefined],
  ]);
});

test('a request to exactly the host of a credential carries it, whatever the session sends', async () => {
  const { ask } = await aProxy([ofPlain()]);
  const own = { Authorization: 'Bearer of-the-session', 'x-own': '1' };
  expect((await ask(`http://REGISTRY.test:${ports.plain}/a`, own)).status).toBe(200);
  expect((await ask(`http://other.test:${ports.plain}/b`, own)).status).toBe(200);
  const dropping = { ...own, connection: 'close, authorization' };
  expect((await ask(`http://registry.test:${ports.plain}/c`, dropping)).status).toBe(200);
  expect(received.map(([, url, { authorization }]) => [url, authorization])).toEqual([
    ['/a', VALUE],
    ['/b', 'Bearer of-the-session'],
    ['/c', VALUE],
  ]);
  expect(received[0]?.[2]['x-own']).toBe('1');
});

test('a credential admits no host and no address', async () => {
  const { ask } = await aProxy([ofPlain()], []);
  const refused = await ask(`http://registry.test:${ports.plain}/`);
  expect(refused).toMatchObject({ status: 403, body: expect.stringContaining('is not public') });
  expect(received).toEqual([]);
});

test('TRACE, which repeats headers, is refused', async () => {
  const { ask } = await aProxy([ofPlain()]);
  const refused = await ask(`http://registry.test:${ports.plain}/`, {}, 'TRACE');
  expect([refused.status, received]).toEqual([403, []]);
});

/** The client's end of a tunnel. */
async function tunnelTo(host: string, socket: string): Promise<Socket> {
  const client = connect(socket);
  client.write(`CONNECT ${host} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(client, 'data');
  return client;
}

test('http:// requests in a tunnel carry the credential, too, as fetch of Node sends them', async () => {
  const { socket, notes } = await aProxy([ofPlain()]);
  const host = `registry.test:${ports.plain}`;
  const client = await tunnelTo(host, socket);
  const head = (path: string, more: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: none\r\n${more}\r\n`;
  const body = 'x'.repeat(300_000);
  client.write(head('/1', `Content-Length: ${body.length}\r\n`).slice(0, 20));
  client.write(head('/1', `Content-Length: ${body.length}\r\n`).slice(20) + body);
  await once(client, 'data');
  client.write(head('http://other.test/', 'Content-Length: 0\r\nConnection: close\r\n'));
  expect(await text(client)).toContain('HTTP/1.1 400 Bad Request');
  const [length] = received.map(([, , headers]) => headers['content-length']);
  expect(received.map(([, url, { authorization }]) => [url, authorization])).toEqual([
    ['/1', VALUE],
  ]);
  expect([length, notes]).toEqual([String(body.length), []]);
});

test('a tunnel is refused as a request is, and a client that leaves it ends nothing', async () => {
  const { socket } = await aProxy([ofPlain()], []);
  const client = connect(socket);
  client.write(`CONNECT registry.test:${ports.plain} HTTP/1.1\r\nHost: x\r\n\r\n`);
  expect(await text(client)).toContain('HTTP/1.1 403 Forbidden');
  const open = await aProxy([ofPlain()]);
  (await tunnelTo(`registry.test:${ports.plain}`, open.socket)).destroy();
  expect((await open.ask(`http://registry.test:${ports.plain}/`)).status).toBe(200);
});

test('a tunnel to a host without a credential is not in the log', async () => {
  const { socket, notes } = await aProxy([]);
  (await tunnelTo(`registry.test:${ports.plain}`, socket)).destroy();
  expect(notes).toEqual([]);
});

(identity ? test : test.skip)(
  'TLS of the session itself carries no credential, and the log says so once',
  async () => {
    const { socket, notes } = await aProxy([ofSecure()]);
    const host = `registry.test:${ports.secure}`;
    for (const path of ['/1', '/2']) {
      const client = connectTls({
        socket: await tunnelTo(host, socket),
        servername: 'registry.test',
      });
      client.end(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(await text(client)).toContain('answered');
    }
    expect(received.map(([, , headers]) => headers.authorization)).toEqual([undefined, undefined]);
    expect(notes).toEqual([expect.stringContaining(`use http://${host}`)]);
  },
);

(identity ? test : test.skip)('the proxy speaks TLS to the host of a credential', async () => {
  const { ask } = await aProxy([ofSecure({ header: 'x-api-key' })]);
  const answer = await ask(`http://registry.test:${ports.secure}/a?b`, { 'X-Api-Key': 'own' });
  expect(answer).toMatchObject({ status: 200, body: 'answered' });
  expect(received).toMatchObject([
    ['secure', '/a?b', { 'x-api-key': VALUE, host: `registry.test:${ports.secure}` }],
  ]);
});

(identity ? test : test.skip)(
  'a host without the certificate of its name gets no request',
  async () => {
    const { ask } = await aProxy([ofSecure({ host: `other.test:${ports.secure}` })]);
    const wrong = await ask(`http://other.test:${ports.secure}/`);
    expect(wrong).toMatchObject({ status: 502, body: expect.stringMatching(/ALTNAME/) });
    setDefaultCACertificates(trusted);
    try {
      const strange = await (
        await aProxy([ofSecure()])
      ).ask(`http://registry.test:${ports.secure}/`);
      expect(strange).toMatchObject({ status: 502, body: expect.stringMatching(/SELF_SIGNED/) });
    } finally {
      setDefaultCACertificates([...trusted, readFileSync(identity!.file, 'utf8')]);
    }
    expect(received).toEqual([]);
  },
);

(identity ? test : test.skip)(
  'a redirect stays on the way with the credential, and takes it to no other host',
  async () => {
    const { ask } = await aProxy([ofSecure()]);
    const { secure, plain } = ports;
    const to = async (location: string) => {
      const url = `http://registry.test:${secure}/`;
      return (await ask(url, { 'x-location': location })).headers.location ?? '';
    };
    const own = await to(`https://registry.test:${secure}/next`);
    expect(own).toBe(`http://registry.test:${secure}/next`);
    const away = await to(`http://other.test:${plain}/away`);
    expect(away).toBe(`http://other.test:${plain}/away`);
    received.length = 0;
    for (const location of [own, away]) expect((await ask(location)).status).toBe(200);
    expect(received.map(([name, url, { authorization }]) => [name, url, authorization])).toEqual([
      ['secure', '/next', VALUE],
      ['plain', '/away', undefined],
    ]);
  },
);
