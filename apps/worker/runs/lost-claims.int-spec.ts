import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostClient, Log } from '#lib/agent-host';
import { GivenToken } from '../api/agent-token.js';
import { DroverApi } from '../api/drover-api.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { Claimer } from './claimer.js';
import { DiskSpace } from './disk-space.js';
import { Reconciler } from './recovery.js';
import { Reporter } from './reporter.js';

/** The consequences of a lost answer in which the server gave tasks to this worker. */

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

/** Answers the first request with the given status, or with nothing, and all others well. */
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
    polling: { waitMs: 25_000, jitterMs: 0, backoffMs: 5_000 },
    api,
    log: quiet,
    capacity: 1,
    disk: new DiskSpace([]),
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
  ['never comes', undefined],
  ['says that its outcome is unknown', UNKNOWN],
  ['comes from a proxy that gave up', { status: 504, body: '<html>' }],
])('the worker looks for lost runs if the answer to a claim %s', async (_how, lost) => {
  loseFirst(lost);
  expect(await uncertaintiesOfACompletion(1)).toBe(1);
});

test('without a claim, or after a refusal, the worker looks for no lost runs', async () => {
  loseFirst(undefined);
  expect(await uncertaintiesOfACompletion(0)).toBe(0);
  loseFirst({ status: 429, body: '{"code":"rate_limited"}' });
  expect(await uncertaintiesOfACompletion(1)).toBe(0);
});

test('a lost run is released as soon as the server answers again', async () => {
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
  reconciler.compareSoon();
  try {
    await waitFor('the run to be released', () => ended.length > 0);
  } finally {
    reconciler.stop();
  }
  expect(ended[0]).toBe('/api/v1/runs/lost/release');
});
