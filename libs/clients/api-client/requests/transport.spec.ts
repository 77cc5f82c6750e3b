import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { Addresses } from './addresses.js';
import { createClient, type DroverClient } from './client.js';
import { bearer } from './credentials.js';
import { ConnectionProblem, DroverProblem } from './problem.js';

/** Tests of retries, and of answers that are not Drover's. */

type Answer = (response: ServerResponse) => void;

const TASK = '/api/v1/agent-tasks';
const KEYS = '/api/v1/workspaces/{workspaceId}/api-keys';
const ID = '0198c0de-7000-7000-8000-000000000000';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let server: Server;
let drover: DroverClient;
let answers: Answer[];
let asked: IncomingMessage[];

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push(request);
    // The last answer is repeated.
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  drover = createClient({ baseUrl, credentials: bearer('token'), retries: 1, timeoutMs: 1_000 });
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const json = (body: object, status = 200, headers = {}): Answer => {
  return (response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
};
const refused = (status: number, code: string, headers = {}): Answer =>
  json({ type: '', title: code, status, code, advice: '', instance: '' }, status, headers);
const done = json({ id: ID });
const lost: Answer = (response) => response.destroy();
const cut: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
  response.write('{"id":', () => response.destroy());
};
const stalled: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"id":');
  // This collection would drop state that a fetch needs from its signal after the head of an
  // answer.
  setTimeout(collectGarbage, 200);
};
const page: Answer = (response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');

const createTask = () => drover.post(TASK, { body: { title: 'T', taskType: 't' } });
const createKey = () => {
  const params = { path: { workspaceId: ID } };
  return drover.post(KEYS, { params, body: { name: 'k', scopes: ['tasks:read'] } });
};
const readTask = () => drover.get(`${TASK}/{id}`, { params: { path: { id: ID } } });
const change = (version?: string) => {
  const header = version === undefined ? {} : { 'If-Match': version };
  const params = { path: { id: ID }, header };
  return drover.patch(`${TASK}/{id}`, { params, body: { priority: 2 } });
};

describe('a request', () => {
  it.each<[string, Answer, () => Promise<unknown>]>([
    ['reads, after a lost answer', lost, readTask],
    ['reads, after a body that was cut', cut, readTask],
    ['reads, after a body that stalls', stalled, readTask],
    ['reads, after a page of a proxy', page, readTask],
    ['has a key that the server keeps, after a lost answer', lost, createTask],
    [
      'has a key, while the first try is under way',
      refused(409, 'idempotency_in_progress'),
      createTask,
    ],
    [
      'has a key, after 503',
      refused(503, 'database_unavailable', { 'retry-after': '0' }),
      createTask,
    ],
    ['names its version, after a lost answer', lost, () => change('"3"')],
    [
      'shows a secret once, after 429',
      refused(429, 'rate_limited', { 'retry-after': '0' }),
      createKey,
    ],
  ])('a retry follows a request that %s', async (_what, first, send) => {
    answers = [first, done];
    expect(await send()).toEqual({ id: ID });
    const [one, two] = asked.map(({ headers }) => headers['idempotency-key']);
    expect([asked.length, two]).toEqual([2, one]);
  });

  it.each<[string, Answer, () => Promise<unknown>]>([
    ['shows a secret once, after a lost answer', lost, createKey],
    ['shows a secret once, after 503', refused(503, 'outcome_unknown'), createKey],
    ['names no version, after a lost answer', lost, () => change()],
    ['was refused', refused(409, 'illegal_transition'), createTask],
    [
      'must be repeated after an hour',
      refused(429, 'rate_limited', { 'retry-after': '3600' }),
      readTask,
    ],
  ])('no retry follows a request that %s', async (_what, first, send) => {
    answers = [first, done];
    await expect(send()).rejects.toThrow();
    expect(asked).toHaveLength(1);
  });

  it('a request without any answer fails with an unknown outcome', async () => {
    answers = [lost];
    await expect(readTask()).rejects.toThrow(ConnectionProblem);
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['its address', { baseUrl: 'http://ann:hunter-2@127.0.0.1:9' }],
    ['its key', { credentials: bearer('hunter-2\nhunter-2') }],
  ])(
    'a request that cannot be made hides the secret in %s, and is not tried again',
    async (_, own) => {
      answers = [done];
      const onRetry = () => {
        throw new Error('tried again');
      };
      const error: unknown = await drover
        .with({ ...own, onRetry })
        .get(TASK)
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConnectionProblem);
      expect(inspect(error)).not.toContain('hunter');
      expect(asked).toHaveLength(0);
    },
  );

  it('a refused request has the code of the refusal', async () => {
    answers = [refused(404, 'task_not_found')];
    const error: unknown = await readTask().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DroverProblem);
    expect(error).toMatchObject({ code: 'task_not_found', status: 404 });
  });

  it.each([
    ['while its credentials are awaited', () => new Promise<never>(() => undefined)],
    ['while it waits for its answer', () => ({})],
  ])('a request ends with its caller, %s', async (_when, headers) => {
    answers = [() => undefined];
    const caller = new AbortController();
    const reason = new Error('The caller has left');
    const params = { path: { id: ID } };
    const read = drover
      .with({ credentials: { headers } })
      .get(`${TASK}/{id}`, { params, signal: caller.signal });
    setTimeout(() => caller.abort(reason), 10);
    await expect(read).rejects.toBe(reason);
  });
});

describe('a client of several servers', () => {
  /** An address where nobody listens. */
  let nobody: string;
  let answering: string;

  beforeEach(async () => {
    answering = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    nobody = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
    await new Promise((resolve) => closed.close(resolve));
  });

  it('the next address gets a request at once if nobody listens, even one that is sent once', async () => {
    answers = [done];
    drover = drover.with({ baseUrl: `${nobody}, ${answering}/`, retries: 0 });
    expect(await createKey()).toEqual({ id: ID });
    expect(asked[0]?.url).toBe(`/api/v1/workspaces/${ID}/api-keys`);
  });

  it('the address that answers is kept, also by clients of the same client', async () => {
    answers = [done];
    const addresses = new Addresses(`${nobody},${answering}`);
    drover = drover.with({ baseUrl: addresses });
    await readTask();
    expect(addresses.current).toBe(answering);
    await drover.with({ retries: 0 }).get(`${TASK}/{id}`, { params: { path: { id: ID } } });
    expect([addresses.current, asked.length]).toEqual([answering, 2]);
  });

  it.each([
    ['a lost answer', lost],
    ['a server that shuts down', refused(503, 'shutting_down')],
  ])('the next try after %s goes to the next address', async (_what, first) => {
    answers = [first, done];
    const addresses = new Addresses(`${answering},http://other.invalid`);
    const fetched: string[] = [];
    const ask = (url: string, init: RequestInit) => {
      fetched.push(new URL(url).origin);
      return fetch(url.replace('http://other.invalid', answering), init);
    };
    drover = drover.with({ baseUrl: addresses, fetch: ask });
    expect(await readTask()).toEqual({ id: ID });
    expect(fetched).toEqual([answering, 'http://other.invalid']);
  });

  it('a refusal is an answer, and the address is kept', async () => {
    answers = [refused(404, 'task_not_found')];
    const addresses = new Addresses(`${answering},${nobody}`);
    await expect(drover.with({ baseUrl: addresses }).get(TASK)).rejects.toThrow(DroverProblem);
    expect(addresses.current).toBe(answering);
  });

  it('a request fails after it found nobody at any address', async () => {
    const away = drover.with({ baseUrl: `${nobody},${nobody}`, retries: 0 });
    await expect(away.get(TASK)).rejects.toThrow(ConnectionProblem);
  });
});
