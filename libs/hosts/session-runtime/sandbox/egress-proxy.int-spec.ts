import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createListener, type Socket } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { newId } from '#lib/kernel';
import { EgressProxy } from './egress-proxy.js';

const dir = mkdtempSync(join(tmpdir(), 'drover-egress-'));
const requests: IncomingMessage[] = [];
const tunnels = new Set<Socket>();
const proxies: EgressProxy[] = [];
const web: Server = createServer((request, answer) => {
  requests.push(request);
  if (request.url === '/away') {
    return answer.writeHead(302, { location: 'http://169.254.169.254/latest' }).end('moved');
  }
  if (request.url === '/odd') return request.socket.end('HTTP/1.1 099 No\r\n\r\n');
  request.pipe(answer.writeHead(201, { 'x-from': 'web', 'set-cookie': ['a=1', 'b=2'] }));
});
/** Repeats each line, and keeps its connections. */
const echo = createListener((socket) => {
  tunnels.add(socket);
  socket.on('close', () => tunnels.delete(socket)).on('error', () => undefined);
  socket.pipe(socket);
});
let webPort: number;
let echoPort: number;

const ADDRESSES: Record<string, string[]> = {
  localhost: ['127.0.0.1'],
  'inside.example': ['10.1.2.3'],
  'both.example': ['93.184.216.34', '127.0.0.1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  'empty.example': [],
};
const asked: string[] = [];

beforeAll(async () => {
  await Promise.all([
    once(web.listen(0, '127.0.0.1'), 'listening'),
    once(echo.listen(0, '127.0.0.1'), 'listening'),
  ]);
  [webPort, echoPort] = [web, echo].map((one) => (one.address() as AddressInfo).port) as [
    number,
    number,
  ];
});

afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.close();
  requests.length = 0;
  asked.length = 0;
});

afterAll(() => {
  web.close();
  web.closeAllConnections();
  echo.close();
  rmSync(dir, { recursive: true });
});

/** A proxy that admits the two servers by `localhost`, and all names below `example`. */
async function aProxy(more: { allowedHosts?: string[][]; privateHosts?: string[] } = {}) {
  const socket = join(dir, newId());
  const own = [`localhost:${webPort}`, `localhost:${echoPort}`];
  const allowedHosts = [[...own, '*.example', `127.0.0.1:${webPort}`, '*:8080']];
  const notes: string[] = [];
  const resolve = (name: string) => {
    asked.push(name);
    const addresses = ADDRESSES[name];
    if (addresses !== undefined) return Promise.resolve(addresses);
    return Promise.reject(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }));
  };
  const egress = { socket, allowedHosts, privateHosts: own, credentials: [], ...more };
  const proxy = await EgressProxy.open(egress, { public: resolve, internal: resolve });
  proxy.onNote = (note) => notes.push(note);
  proxies.push(proxy);
  /** The answer to the bytes of a request. */
  const send = async (bytes: string): Promise<string> => {
    const client = connect(socket);
    client.write(bytes.replaceAll('\n', '\r\n'));
    return text(client).catch(String);
  };
  return { proxy, socket, notes, send };
}

const lineOf = (answer: string) => answer.split('\r\n')[0];
const aGet = (url: string, headers = '') =>
  `GET ${url} HTTP/1.1\nHost: x\n${headers}Connection: close\n\n`;
const aConnect = (to: string) => `CONNECT ${to} HTTP/1.1\nHost: ${to}\n\n`;

describe('an http:// request', () => {
  test('reaches a host that the lists admit, with its body and all headers but those of its connection', async () => {
    const { send, notes } = await aProxy();
    const answer = await send(
      `POST http://LOCALHOST:${webPort}/a?b=c HTTP/1.1\nHost: other.example\nX-Own: 1\nX-Hop: 2\n` +
        'Proxy-Authorization: Basic eDp5\nConnection: close, x-hop\nContent-Length: 4\n\nbody',
    );
    expect(lineOf(answer)).toBe('HTTP/1.1 201 Created');
    expect(answer).toMatch(/set-cookie: a=1\r\nset-cookie: b=2\r\n[^]*body/);
    const [{ url, headers } = { url: '', headers: {} }] = requests;
    expect(url).toBe('/a?b=c');
    expect(headers).toMatchObject({ host: `localhost:${webPort}`, 'x-own': '1' });
    expect(Object.keys(headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(proxy-|x-hop)/)]),
    );
    expect(notes).toEqual([]);
  });

  test('a chunked body keeps its framing, and hides no second request', async () => {
    const { send } = await aProxy();
    const hidden = `GET http://localhost:${webPort}/hidden HTTP/1.1\nHost: x\n\n`;
    const chunk = hidden.replaceAll('\n', '\r\n');
    const answer = await send(
      `GET http://localhost:${webPort}/seen HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n` +
        `Connection: close\n\n${chunk.length.toString(16)}\n${hidden}\n0\n\n`,
    );
    expect(lineOf(answer)).toBe('HTTP/1.1 201 Created');
    expect(requests.map(({ url }) => url)).toEqual(['/seen']);
  });

  test('a request with two lengths is refused', async () => {
    const { send } = await aProxy();
    const head = `POST http://localhost:${webPort}/ HTTP/1.1\nHost: x\n`;
    const both = 'Content-Length: 4\nTransfer-Encoding: chunked\n\n0\n\nGET / HTTP/1.1\n\n';
    expect(lineOf(await send(head + both))).toBe('HTTP/1.1 400 Bad Request');
    expect(requests).toEqual([]);
  });

  test('a redirect is answered, and not followed', async () => {
    const { send } = await aProxy();
    const answer = await send(aGet(`http://localhost:${webPort}/away`));
    expect(lineOf(answer)).toBe('HTTP/1.1 302 Found');
    expect(answer).toContain('location: http://169.254.169.254/latest');
    expect(requests).toHaveLength(1);
  });

  test('an answer with a status that Node cannot write is a bad gateway', async () => {
    const { send } = await aProxy();
    const answer = await send(aGet(`http://localhost:${webPort}/odd`));
    expect(lineOf(answer)).toBe('HTTP/1.1 502 Bad Gateway');
  });

  test.each([
    ['credentials', (port: number) => `http://user:password@localhost:${port}/`],
    ['another scheme', (port: number) => `https://localhost:${port}/`],
    ['no host', () => '/path'],
    ['an escaped host', (port: number) => `http://local%68ost:${port}/`],
    ['a backslash', (port: number) => `http://localhost:${port}\\@x.example/`],
    ['a port out of range', () => 'http://localhost:65536/'],
    ['a fragment', (port: number) => `http://localhost:${port}/#a`],
    ['no name', (port: number) => `http://:${port}/`],
  ])('a request with %s is refused', async (_, url) => {
    const { send } = await aProxy();
    expect(lineOf(await send(aGet(url(webPort))))).toBe('HTTP/1.1 400 Bad Request');
    expect(requests).toEqual([]);
  });

  test('headers of more than 16 KiB are refused', async () => {
    const { send } = await aProxy();
    const large = `X-Large: ${'x'.repeat(17_000)}\n`;
    const answer = await send(aGet(`http://localhost:${webPort}/`, large));
    expect(lineOf(answer)).toMatch(/^HTTP\/1.1 431 /);
    expect(requests).toEqual([]);
  });
});

describe('a tunnel', () => {
  test('carries bytes in both directions, and ends with the proxy', async () => {
    const { proxy, socket } = await aProxy();
    const client = connect(socket);
    client.write(`CONNECT localhost:${echoPort} HTTP/1.1\r\nHost: other.example:443\r\n\r\nearly `);
    const received: string[] = [];
    const isComplete = new Promise<void>((resolve) => {
      client.on('data', (chunk) => {
        received.push(String(chunk));
        if (received.join('').endsWith('early late')) resolve();
        else if (received.length === 1) client.write('late');
      });
    });
    await isComplete;
    expect(lineOf(received.join(''))).toBe('HTTP/1.1 200 Connection Established');
    expect(tunnels.size).toBe(1);
    const [far] = tunnels;
    const ended = Promise.all([once(client, 'close'), once(far!, 'close')]);
    proxy.close();
    await ended;
  });

  test('a client that ends its half receives the rest', async () => {
    const { socket } = await aProxy();
    const client = connect({ path: socket, allowHalfOpen: true });
    client.end(`CONNECT localhost:${echoPort} HTTP/1.1\r\nHost: x\r\n\r\n${'x'.repeat(50_000)}`);
    expect((await text(client)).split('\r\n\r\n')[1]).toHaveLength(50_000);
  });

  test.each([
    ['no port', 'localhost'],
    ['a path', 'localhost:80/x'],
    ['credentials', 'user@localhost:80'],
    ['an address without brackets', '::1:80'],
  ])('a target with %s is refused', async (_, target) => {
    const { send } = await aProxy();
    expect(lineOf(await send(aConnect(target)))).toBe('HTTP/1.1 400 Bad Request');
  });
});

describe('a refusal', () => {
  test.each([
    ['a host that no list names', 'other.test:443', 'a list of allowed hosts does not name it'],
    ['another port', 'a.example:22', 'a list of allowed hosts does not name it'],
    ['a name of an internal address', 'inside.example:443', 'its address is not public'],
    ['a name of a metadata service', 'metadata.example:443', 'its address is not public'],
    ['a name with an internal address too', 'both.example:443', 'its address is not public'],
    ['a mapped address', 'mapped.example:443', 'its address is not public'],
    ['a name without an address', 'empty.example:443', 'its address is not public'],
    ['the loopback address', '127.0.0.1:8080', 'its address is not public'],
    ['the loopback address as a number', '2130706433:8080', 'its address is not public'],
    ['the loopback address of IPv6', '[::1]:8080', 'its address is not public'],
    ['all addresses of the machine', '0.0.0.0:8080', 'its address is not public'],
  ])('%s is refused with 403 and its reason', async (_, target, why) => {
    const { send, notes } = await aProxy();
    const answer = await send(aConnect(target));
    expect(lineOf(answer)).toBe('HTTP/1.1 403 Forbidden');
    expect(answer).toMatch(/content-type: text\/plain/i);
    expect(answer).toContain(`network policy refuses`);
    expect(answer).toContain(why);
    expect(notes).toEqual([`The network policy refused ${target}: ${why}`]);
    const again = await send(aGet(`http://${target}/`));
    expect(lineOf(again)).toBe('HTTP/1.1 403 Forbidden');
    expect(notes).toHaveLength(1);
  });

  test('a host that a list omits is not looked up', async () => {
    const { send } = await aProxy({ allowedHosts: [['*'], ['other.example']] });
    await send(aConnect('secret.inside.example:443'));
    expect(asked).toEqual([]);
  });

  test('every list must name the host, and without a list none is reached', async () => {
    const own = `localhost:${webPort}`;
    for (const allowedHosts of [[[own], ['a.example']], [[own], []], []]) {
      const { send } = await aProxy({ allowedHosts });
      expect(lineOf(await send(aGet(`http://${own}/`)))).toBe('HTTP/1.1 403 Forbidden');
    }
    const { send } = await aProxy({ allowedHosts: [[own], [`*:${webPort}`]] });
    expect(lineOf(await send(aGet(`http://${own}/`)))).toBe('HTTP/1.1 201 Created');
  });

  test('an exception admits its own port alone, and no list admits it for others', async () => {
    const allowedHosts = [[`localhost:${webPort}`, `127.0.0.1:${echoPort}`]];
    const privateHosts = [`127.0.0.1:${webPort}`, `localhost:${echoPort}`];
    const { send } = await aProxy({ allowedHosts, privateHosts });
    expect(lineOf(await send(aConnect(`127.0.0.1:${webPort}`)))).toMatch(/ 403 /);
    expect(lineOf(await send(aConnect(`127.0.0.1:${echoPort}`)))).toMatch(/ 403 /);
  });

  test('an exception does not reach link-local addresses', async () => {
    const privateHosts = ['169.254.169.254:80'];
    const { send } = await aProxy({ allowedHosts: [['*']], privateHosts });
    expect(lineOf(await send(aGet('http://169.254.169.254/latest')))).toMatch(/ 403 /);
  });

  test('no name leads to an address of this machine', async () => {
    const { send } = await aProxy({ allowedHosts: [['*:8080']] });
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    for (const { address } of own) {
      const target = address.includes(':') ? `[${address}]:8080` : `${address}:8080`;
      expect(lineOf(await send(aConnect(target)))).toMatch(/ 403 /);
    }
  });

  test('a name is resolved once for a connection, which goes to the checked address', async () => {
    const answers = [['127.0.0.1'], ['10.1.2.3']];
    Object.defineProperty(ADDRESSES, 'moving.test', { get: () => answers.shift() });
    const host = `moving.test:${webPort}`;
    const { send } = await aProxy({ allowedHosts: [[host]], privateHosts: [host] });
    expect(lineOf(await send(aGet(`http://${host}/`)))).toBe('HTTP/1.1 201 Created');
    expect(asked).toEqual(['moving.test']);
  });

  test('a name that nobody knows, and a host that nobody serves, are bad gateways', async () => {
    const gone = createListener().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const host = `localhost:${port}`;
    const { send, notes } = await aProxy({
      allowedHosts: [['unknown.example', host]],
      privateHosts: [host],
    });
    const unknown = await send(aConnect('unknown.example:443'));
    expect(lineOf(unknown)).toBe('HTTP/1.1 502 Bad Gateway');
    expect(unknown).toContain('cannot be resolved (ENOTFOUND)');
    const away = await send(aGet(`http://${host}/`));
    expect(lineOf(away)).toBe('HTTP/1.1 502 Bad Gateway');
    expect(away).toContain('ECONNREFUSED');
    expect(notes).toEqual([]);
  });

  test('a log gets at most 20 refusals', async () => {
    const { send, notes } = await aProxy();
    for (let n = 0; n < 25; n += 1) await send(aConnect(`h${n}.test:443`));
    expect(notes).toHaveLength(21);
    expect(notes.at(-1)).toBe('Further refusals of the network policy are not in this log');
  });
});

test('clients that break off leave the proxy alive', async () => {
  const { socket, send } = await aProxy();
  const starts = [
    `CONNECT localhost:${echoPort} HTTP/1.1\r\n`,
    `CONNECT localhost:${echoPort} HTTP/1.1\r\nHost: x\r\n\r\nmore`,
    `CONNECT inside.example:443 HTTP/1.1\r\nHost: x\r\n\r\n`,
    `POST http://localhost:${webPort}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nxx`,
    '\0\0\0',
  ];
  for (const start of starts) {
    const client = connect(socket).on('error', () => undefined);
    client.write(start);
    await once(client, 'connect');
    client.destroy();
  }
  expect(lineOf(await send(aGet(`http://localhost:${webPort}/`)))).toBe('HTTP/1.1 201 Created');
});
