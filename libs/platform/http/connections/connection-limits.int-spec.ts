import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { closed } from '../../../../test/support/closed.js';
import { createFastifyAdapter } from '../server/adapter.js';

/** More than the buffers of a connection hold, in bytes. */
const LARGE = 64 * 2 ** 20;
let fastify: FastifyInstance;
let answerNow: () => void;

beforeAll(async () => {
  const limits = { requestMs: 300, maxConnections: 3, stalledMs: 3_000 };
  fastify = createFastifyAdapter({ limits }).getInstance<FastifyInstance>();
  fastify.post('/echo', (request) => Promise.resolve(request.body));
  fastify.get('/late', async () => {
    await new Promise<void>((resolve) => (answerNow = resolve));
    return { late: true };
  });
  fastify.get('/large', () => Promise.resolve(Buffer.alloc(LARGE, 'x')));
  await fastify.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => fastify.close());

function open(): Socket {
  const { port } = fastify.server.address() as AddressInfo;
  return connect(port, '127.0.0.1');
}

/** Everything that the server sends until it closes the connection. */
async function untilClosed(socket: Socket): Promise<string> {
  let said = '';
  socket.on('data', (part) => (said += part.toString()));
  await closed(socket);
  return said;
}

const GET_LARGE = 'GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
const HEADERS = 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

it.each([
  ['says nothing', ''],
  ['does not end its headers', HEADERS],
  ['does not end its body', `${HEADERS}content-length: 10\r\n\r\n{`],
])('a connection that %s is closed', async (_, text) => {
  const socket = open();
  const closed = untilClosed(socket);
  if (text !== '') socket.write(text);
  const said = await closed;
  if (text !== '') expect(said).toMatch(/^HTTP\/1.1 408 [^]*"request_timeout"/);
});

it('an answer can take longer than a request', async () => {
  const poll = open();
  poll.write('GET /late HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  const answer = untilClosed(poll);
  await once(poll, 'connect');
  // These exceed the limit, one after the other.
  await untilClosed(open());
  await untilClosed(open());
  answerNow();
  expect(await answer).toMatch(/^HTTP\/1.1 200 [^]*"late":true/);
});

it('the connection of a client that stops reading an answer is closed', async () => {
  const accepted = once(fastify.server, 'connection');
  const socket = open();
  socket.pause();
  socket.write(GET_LARGE);
  const [held] = (await accepted) as [Socket];
  await closed(held);
  socket.destroy();
});

it('a client that reads an answer slowly receives all of it', async () => {
  const socket = open();
  let received = 0;
  socket.on('data', (part: Buffer) => {
    received += part.length;
    socket.pause();
    setImmediate(() => socket.resume());
  });
  socket.write(GET_LARGE);
  await closed(socket);
  expect(received).toBeGreaterThan(LARGE);
});

it('a connection above the limit is closed at once, and a closed one makes room', async () => {
  const held = [open(), open(), open()];
  await Promise.all(held.map((socket) => once(socket, 'connect')));
  const ends = held.map(untilClosed);
  const order: string[] = [];
  const refused = untilClosed(open()).then(() => order.push('refused'));
  await Promise.all([...ends.map((end) => end.then(() => order.push('held'))), refused]);
  expect(order[0]).toBe('refused');
  const socket = open();
  const answer = untilClosed(socket);
  socket.write(`${HEADERS}connection: close\r\ncontent-length: 2\r\n\r\n{}`);
  expect(await answer).toMatch(/^HTTP\/1.1 200 /);
});
