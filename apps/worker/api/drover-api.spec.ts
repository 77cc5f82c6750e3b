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
let isRefused: (body: string) => boolean;

beforeEach(async () => {
  bodies = [];
  isRefused = () => false;
  server = createServer((request, response) => {
    const { url } = request;
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (body !== '') bodies.push(JSON.parse(body));
      const isValid = !isRefused(body);
      response.statusCode = isValid ? (pages[String(url)] === undefined ? 404 : 200) : 400;
      const problem = { status: 400, code: 'validation_failed', title: 'Not valid' };
      response.end(JSON.stringify(isValid ? (pages[String(url)] ?? {}) : problem));
    });
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

test('a server of the version before gets usage without the details that it refuses', async () => {
  const answer = { advice: 'continue', budgets: [] };
  pages = { '/api/v1/runs/run-1/usage': answer };
  const credentials = new GivenToken({ token: 'token', tokenFile: undefined });
  const api = new DroverApi(hostClient(url, { credentials }), 'me');
  const report = { id: 'one', model: 'm', inputTokens: 1, outputTokens: 2 };
  const details = { reasoningTokens: 1, timeToFirstTokenMs: 20, estimated: false };
  const detailed = { ...report, ...details };
  await api.usage('run-1', [detailed]);
  expect(bodies).toEqual([{ reports: [detailed] }]);
  isRefused = (body) => Object.keys(details).some((field) => body.includes(field));
  expect(await api.usage('run-1', [detailed])).toEqual(answer);
  expect(bodies.slice(1)).toEqual([{ reports: [detailed] }, { reports: [report] }]);
  isRefused = () => true;
  await expect(api.usage('run-1', [report])).rejects.toMatchObject({
    problem: { code: 'validation_failed' },
  });
  expect(bodies).toHaveLength(4);
});

test('a server that knows no messages of a state is told its tool calls', async () => {
  pages = { '/api/v1/runs/run/prompt': { prompt: 'Go on.' } };
  const credentials = new GivenToken({ token: 'token', tokenFile: undefined });
  const api = new DroverApi(hostClient(url, { credentials }), 'me');
  const start = { conversation: 'resumed' as const, upTo: { runId: 'run', calls: 7, messages: 2 } };
  isRefused = (body) => body.includes('messages');
  expect(await api.createPrompt('run', start)).toEqual({ prompt: 'Go on.' });
  expect(bodies).toEqual([start, { ...start, upTo: { runId: 'run', calls: 7 } }]);
  isRefused = () => true;
  await expect(api.createPrompt('run', start)).rejects.toThrow('Not valid');
});
