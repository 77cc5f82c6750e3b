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

beforeEach(async () => {
  server = createServer(({ url }, response) => {
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
