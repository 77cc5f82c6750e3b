import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startTestServer, type TestServer } from '../testing/app.js';

@Controller('things')
class ThingsController {
  @Get()
  list() {
    return {};
  }

  @Get('half')
  half(@Res() reply: FastifyReply) {
    reply.hijack();
    reply.raw.write('half an answer');
  }
}

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer([ThingsController]);
});

afterAll(() => server.close());

function open() {
  return connect(Number(new URL(server.url).port), '127.0.0.1');
}

/** Sends the bytes unchanged. @returns everything that is received until the connection ends */
async function send(bytes: string): Promise<string> {
  const socket = open();
  socket.write(bytes);
  return text(socket);
}

const HOST = 'Host: 127.0.0.1\r\n';

it.each([
  ['an unknown method', `FOO /api/v1/things HTTP/1.1\r\n${HOST}\r\n`, 400, 'malformed_request'],
  ['a line that is none', 'nonsense\r\n\r\n', 400, 'malformed_request'],
  [
    'a header without a name',
    `GET /api/v1/things HTTP/1.1\r\n${HOST}: x\r\n\r\n`,
    400,
    'malformed_request',
  ],
  [
    'two lengths of the body',
    `POST /api/v1/things HTTP/1.1\r\n${HOST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    400,
    'malformed_request',
  ],
  [
    'headers over 16 KiB',
    `GET /api/v1/things HTTP/1.1\r\n${HOST}X-Large: ${'x'.repeat(17_000)}\r\n\r\n`,
    431,
    'headers_too_large',
  ],
  ['no host', 'GET /api/v1/things HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_header'],
])('%s is answered with a problem document', async (_, bytes, status, code) => {
  const answer = await send(bytes);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toContain('content-type: application/problem+json; charset=utf-8');
  expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
  const problem = JSON.parse(body) as Record<string, string>;
  expect(problem).toMatchObject({ status, code, type: `urn:drover:error:${code}` });
  expect(head).toContain(`x-request-id: ${problem['requestId']}`);
  const logged = server.lines.filter(({ requestId }) => requestId === problem['requestId']);
  expect(logged).toMatchObject([{ level: 'info', message: 'request refused', status, code }]);
});

it("the problem document contains the parser's explanation", async () => {
  const answer = await send(`FOO / HTTP/1.1\r\n${HOST}\r\n`);
  expect(answer).toContain('"detail":"Invalid method encountered."');
});

it('HTTP/1.0 without a host is accepted', async () => {
  expect(await send('GET /api/v1/things HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

it('a problem document is not written into another answer', async () => {
  const socket = open();
  const answer = text(socket);
  socket.write(`GET /api/v1/things/half HTTP/1.1\r\n${HOST}\r\n`);
  await once(socket, 'data');
  socket.write('nonsense\r\n\r\n');
  expect(await answer).toMatch(/half an answer\r\n$/);
});
