import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostClient, Log } from '#lib/agent-host';
import { GivenToken } from '../api/agent-token.js';
import { DroverApi } from '../api/drover-api.js';
import { waitUntil } from '../testing/wait-until.js';
import { Claimer } from './claimer.js';
import { Reconciler } from './recovery.js';
import { Reporter } from './reporter.js';

/** What becomes of tasks that the server gave to this worker in an answer that was lost. */

const quiet = new Log(() => undefined);
let server: Server;
let api: DroverApi;
let answer: RequestListener;

beforeEach(async () => {
  server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const credentials = new GivenToken({ token: 'token', tokenFile: undefined });
  api = new DroverApi(hostClient(`http://127.0.0.1:${port}/api/v1`, { credentials }), 'me');
});

afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const UNKNOWN = { status: 503, body: '{"code":"outcome_unknown"}' };

/** Answers the first request thus, or not at all, and all others well. */
function loseFirst(lost: { status: number; body: string } | undefined): void {
  let requests = 0;
  answer = (request, response) => {
    requests += 1;
    if (requests > 1) return response.end('{}');
    if (lost === undefined) return request.socket.destroy();
    return response.writeHead(lost.status, { 'retry-after': '0' }).end(lost.body);
  };
}

async function uncertaintiesOfACompletion(claimed: number): Promise<number> {
  let uncertainties = 0;
  const claimer = new Claimer({
    api,
    log: quiet,
    capacity: 1,
    onRefused: () => undefined,
    execute: () => Promise.reject(new Error('nothing is claimed here')),
    onUncertain: () => (uncertainties += 1),
  });
  const claims = {
    claimNext: () => claimed,
    claimFailed: (error: unknown) => claimer.claimFailed(error),
  };
  const never = new AbortController().signal;
  await new Reporter(api, 'run', quiet).end({ kind: 'complete' }, claims, never);
  return uncertainties;
}

test.each([
  ['is none', undefined],
  ['says that its outcome is unknown', UNKNOWN],
  ['is of a proxy that gave up waiting', { status: 504, body: '<html>' }],
])('Where the answer to a completion that claims %s, it is looked for runs', async (_how, lost) => {
  loseFirst(lost);
  expect(await uncertaintiesOfACompletion(1)).toBe(1);
});

test('A completion that claims nothing, or is refused before it is looked at, loses no run', async () => {
  loseFirst(undefined);
  expect(await uncertaintiesOfACompletion(0)).toBe(0);
  loseFirst({ status: 429, body: '{"code":"rate_limited"}' });
  expect(await uncertaintiesOfACompletion(1)).toBe(0);
});

test('A lost run is handed back as soon as the server can be asked again', async () => {
  let looks = 0;
  const ended: string[] = [];
  answer = ({ url, method }, response) => {
    if (method === 'POST') ended.push(String(url));
    if (!url?.includes('/tasks?')) return response.end('{}');
    looks += 1;
    if (looks === 1) return response.writeHead(503).end('{}');
    return response.end('{"items":[{"id":"task","runId":"lost","status":"ASSIGNED"}]}');
  };
  const options = { api, log: quiet, bootId: 'this', onReplaced: () => undefined };
  const reconciler = new Reconciler(options, () => false);
  reconciler.soon();
  try {
    await waitUntil('the run to be handed back', () => ended.length > 0, 60_000);
  } finally {
    reconciler.stop();
  }
  expect(ended[0]).toBe('/api/v1/runs/lost/release');
}, 90_000);
