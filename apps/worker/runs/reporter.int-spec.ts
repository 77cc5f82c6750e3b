import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '../../../test/support/wait-for.js';
import { Log } from '#lib/agent-host';
import { bearer, createClient } from '#lib/api-client';
import { DroverApi } from '../api/drover-api.js';
import type { LogEntry } from '../api/types.js';
import { Reporter, RunLostError } from './reporter.js';

const never = new AbortController().signal;
const claims = { claimNext: () => 0, claimFailed: () => undefined };

/** The last parts of the paths of all requests, in the order of their arrival. */
let received: string[];
/** Holds requests back until the test answers them. */
let held: Map<string, (response: ServerResponse) => void>;
let server: Server;
let baseUrl: string;
let reporter: Reporter;

beforeEach(async () => {
  [received, held] = [[], new Map()];
  server = createServer((request, response) => {
    const name = String(request.url).split('/').at(-1) ?? '';
    received.push(name);
    request.resume().on('end', () => (held.get(name) ?? answer)(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const api = new DroverApi(createClient({ baseUrl, credentials: bearer('a token') }), 'agent');
  reporter = new Reporter(api, 'run', new Log(() => undefined));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function line(message: string): LogEntry {
  return { level: 'INFO', message, event: 'stdout', at: new Date().toISOString() };
}

function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}

describe('A lost run', () => {
  it('the server gets its last lines, until it refuses some', async () => {
    await reporter.start(never);
    reporter.write([line('before the question')]);
    reporter.lose();
    reporter.progress({ progressPercent: 50 });
    await expect(reporter.end({ kind: 'complete' }, claims, never)).rejects.toThrow(RunLostError);
    expect(received).toEqual(['start', 'logs']);
    held.set('logs', (response) => {
      response.writeHead(409, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ status: 409, title: 'Stale', code: 'stale_run' }));
    });
    for (const text of ['refused', 'not sent']) {
      reporter.write([line(text)]);
      await expect(reporter.end({ kind: 'complete' }, claims, never)).rejects.toThrow(RunLostError);
    }
    expect(received).toEqual(['start', 'logs', 'logs']);
  });
});

it('lines and progress arrive in the order of their calls', async () => {
  const progress = new Promise<ServerResponse>((resolve) => held.set('progress', resolve));
  await reporter.start(never);
  reporter.write([line('before the checkpoint')]);
  const saved = reporter.saveProgress({ checkpointData: { page: 1 } }, never);
  const response = await progress;
  reporter.write(Array.from({ length: 200 }, () => line('after it')));
  for (const name of ['probe', 'probe']) await (await fetch(`${baseUrl}/${name}`)).text();
  expect(received).toEqual(['start', 'logs', 'progress', 'probe', 'probe']);
  answer(response);
  await saved;
  await reporter.end({ kind: 'complete' }, claims, never);
  expect(received.slice(-2)).toEqual(['logs', 'complete']);
});

it.each(['fails', 'gets no answer'])('progress that %s delays no line after it', async (how) => {
  const fail = (response: ServerResponse) => void response.writeHead(503).end();
  held.set('progress', how === 'fails' ? fail : () => undefined);
  await reporter.start(never);
  reporter.progress({ progressPercent: 50 });
  await waitFor('the progress', () => received.includes('progress'));
  reporter.write([line('after it')]);
  const ending = new AbortController();
  const end = reporter.end({ kind: 'complete' }, claims, ending.signal);
  await waitFor('the line', () => received.includes('logs'), 20_000);
  expect(received).not.toContain('complete');
  ending.abort();
  reporter.lose();
  await expect(end).rejects.toThrow(RunLostError);
});

describe('The end of a run', () => {
  it('the end is reported after the progress under way', async () => {
    const progress = new Promise<ServerResponse>((resolve) => held.set('progress', resolve));
    await reporter.start(never);
    reporter.progress({ progressPercent: 50 });
    const response = await progress;
    const end = reporter.end({ kind: 'complete' }, claims, never);
    // Without the order, the end would arrive before the second of them.
    for (const name of ['probe', 'probe']) await (await fetch(`${baseUrl}/${name}`)).text();
    expect(received).toEqual(['start', 'progress', 'probe', 'probe']);
    answer(response);
    await end;
    expect(received.at(-1)).toBe('complete');
    expect(reporter.onLost.aborted).toBe(false);
  });

  it('the end is reported after all lines of the log', async () => {
    await reporter.start(never);
    reporter.write([line('one')]);
    const end = reporter.end({ kind: 'complete' }, claims, never);
    reporter.write([line('two')]);
    await end;
    expect(received.at(-1)).toBe('complete');
    expect(received.filter((name) => name === 'logs').length).toBeGreaterThan(0);
  });
});
