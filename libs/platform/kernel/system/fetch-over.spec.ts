import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchOver } from './fetch-over.js';

const folder = mkdtempSync(join(tmpdir(), 'drover-socket-'));
const path = join(folder, 'server.sock');

const server = createServer((request, response) => {
  const { method, url, headers } = request;
  if (url === '/none') return void response.writeHead(204).end();
  if (url === '/never') return;
  let body = '';
  request.on('data', (part: Buffer) => (body += part.toString()));
  request.on('end', () => {
    response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] });
    response.end(JSON.stringify({ method, url, body, host: headers.host, who: headers['x-who'] }));
  });
});

beforeAll(async () => {
  await once(server.listen(path), 'listening');
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const fetchLocal = fetchOver(path);

test('a request over a socket sends all its parts, and gets the answer', async () => {
  const headers = new Headers({ 'x-who': 'me' });
  const init = { method: 'POST', headers, body: '{"ä":1}' };
  const answer = await fetchLocal('http://drover.example:3000/api/v1/x?y=1', init);
  expect(answer.status).toBe(201);
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(await answer.json()).toEqual({
    method: 'POST',
    url: '/api/v1/x?y=1',
    body: '{"ä":1}',
    host: 'drover.example:3000',
    who: 'me',
  });
});

test('an answer without a body has none', async () => {
  const answer = await fetchLocal('http://drover.example/none', {});
  expect([answer.status, answer.body]).toEqual([204, null]);
});

test('a signal ends a request that is not answered', async () => {
  const end = new AbortController();
  const answer = fetchLocal('http://drover.example/never', { signal: end.signal });
  end.abort();
  await expect(answer).rejects.toThrow('aborted');
});

test('a socket where nobody listens is an error that names it', async () => {
  await expect(fetchOver(`${path}.other`)('http://drover.example/', {})).rejects.toThrow(
    /ENOENT .*server\.sock\.other/,
  );
});
