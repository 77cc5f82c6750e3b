import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DroverApi } from './drover-api.js';
import { hostClient } from '#lib/agent-host';
import { GivenToken } from './agent-token.js';

let server: Server;
let url: string;
let pages: Record<string, unknown>;
let bodies: unknown[];

beforeEach(async () => {
  bodies = [];
  server = createServer((request, response) => {
    const { url } = request;
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => body !== '' && bodies.push(JSON.parse(body)));
    response.statusCode = pages[String(url)] === undefined ? 404 : 200;
    response.end(JSON.stringify(pages[String(url)] ?? {}));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}/api/v1`;
});

afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const item = (number: number) => ({
  id: `task-${number}`,
  runId: `run-${number}`,
  status: 'RUNNING',
});
const live = (number: number, started = true) => ({
  taskId: `task-${number}`,
  runId: `run-${number}`,
  started,
});

test('the live tasks of an agent are read to the last page', async () => {
  const path = '/api/v1/agents/me/tasks?live=true';
  pages = {
    [path]: { items: [item(1), item(2)], nextCursor: 'a+b' },
    [`${path}&cursor=a%2Bb`]: { items: [{ ...item(3), status: 'ASSIGNED' }], nextCursor: 'c' },
    [`${path}&cursor=c`]: { items: [item(4), { id: 'without-a-run' }], nextCursor: null },
  };
  const credentials = new GivenToken({ token: 'token', tokenFile: undefined });
  const held = await new DroverApi(hostClient(url, { credentials }), 'me').liveTasks();
  expect(held).toEqual([live(1), live(2), live(3, false), live(4)]);
});

test('a poll for signals names messages only if a run hears them', async () => {
  pages = { '/api/v1/agents/me/signals': { drain: false, runs: [] } };
  const credentials = new GivenToken({ token: 'token', tokenFile: undefined });
  const api = new DroverApi(hostClient(url, { credentials }), 'me');
  const poll = { runIds: ['run-1'], waitMs: 0 };
  const heard = [{ runId: 'run-1', position: 2 }];
  const { signal } = new AbortController();
  expect(await api.signals({ ...poll, heard: [] }, signal)).toMatchObject({ messages: [] });
  await api.signals({ ...poll, heard }, signal);
  expect(bodies).toEqual([poll, { ...poll, heard }]);
});
