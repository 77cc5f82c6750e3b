import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, type Socket } from 'node:net';
import type pg from 'pg';
import { CONFIG, type Config } from '#lib/config';
import { TokenService } from '#lib/identity';
import { newId } from '#lib/kernel';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { createTestDatabase } from '../../../../test/support/database.js';
import { followStream, type HeardStream } from '../../../../test/support/event-stream.js';
import { aMember, aProject, aSessionOf } from '../../../../test/support/factories.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';

const STREAMS_OF_A_USER = 8;

let first: TestApp;
let second: TestApp;
let workspace: TestWorkspace;
const undo: (() => unknown)[] = [];

beforeAll(async () => {
  const db = await createTestDatabase();
  const env = {
    ROLES: 'api',
    MAX_STREAMS_PER_CALLER: `${STREAMS_OF_A_USER}`,
    MAX_STREAMS_PER_WORKSPACE: '40',
  };
  first = await startTestApp(env, db);
  second = await startTestApp(env, db);
  workspace = await first.newWorkspace();
});

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

afterAll(async () => {
  await second.app.close();
  await first.stop();
});

/** The request headers of a member of the workspace. */
async function aReader(role = 'VIEWER', workspaceId = workspace.id) {
  const userId = await aMember(first.db.owner, workspaceId, role);
  const sessionId = await aSessionOf(first.db.owner, userId);
  const claims = { userId, sessionId, workspaceId };
  const { token } = first.app.get(TokenService, { strict: false }).issueUserToken(claims);
  return { ...claims, headers: { authorization: `Bearer ${token}` } };
}

async function follow(
  path: string,
  headers: Record<string, string>,
  server = first,
): Promise<HeardStream> {
  const stream = await followStream(`${server.url}/api/v1${path}`, headers);
  undo.push(() => stream.close());
  return stream;
}

/** A stream that has reported its start. Everything written from now on arrives. */
async function followFromNow(path: string, headers: Record<string, string>, server = first) {
  const stream = await follow(path, headers, server);
  await waitFor('its place', () => stream.lastEventId() !== '');
  return stream;
}

const ADD_EVENTS = `
INSERT INTO journal (workspace_id, event, task_id, agent_id, actor_kind, details)
SELECT $1, $4, $5::uuid, $6::uuid, 'system', jsonb_build_object('n', n, 'text', repeat('x', $7))
FROM generate_series($2::int, $3) n`;

interface Events {
  from?: number;
  count: number;
  event?: string;
  taskId?: string;
  agentId?: string;
  /** Characters of each event. */
  size?: number;
  workspaceId?: string;
  runner?: Pick<pg.PoolClient, 'query'>;
}

async function addEvents(events: Events): Promise<void> {
  const { from = 0, count, event = 'task.of_a_test', taskId = null, agentId = null } = events;
  const { size = 0, workspaceId = workspace.id, runner = first.db.owner } = events;
  const range = [from, from + count - 1];
  await runner.query(ADD_EVENTS, [workspaceId, ...range, event, taskId, agentId, size]);
}

const numbersOf = ({ events }: HeardStream): unknown[] => events.map(({ data }) => data['n']);
const oneTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** A connection whose transaction ends with the test at the latest. */
async function aWriter(): Promise<pg.PoolClient> {
  const client = await first.db.owner.connect();
  await client.query('BEGIN');
  undo.push(async () => {
    await client.query('ROLLBACK');
    client.release();
  });
  return client;
}

describe('a stream of events', () => {
  it('a stream has the events of its workspace and of no other', async () => {
    const { headers } = await aReader();
    const stranger = await aReader('OWNER', (await first.newWorkspace()).id);
    const [own, foreign] = [
      await followFromNow('/events', headers),
      await followFromNow('/events', stranger.headers, second),
    ];
    expect(own.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const body = { title: 'A task', taskType: 'test' };
    const { body: task } = await workspace.api.post<{ id: string }>('/agent-tasks', body);
    await workspace.api.post(`/agent-tasks/${task.id}/cancel`);
    const [created, aborted] = await own.atLeast(2);
    expect(created).toMatchObject({ event: 'task.created', data: { taskId: task.id } });
    expect(created?.data['id']).toBe(created?.id);
    expect(aborted).toMatchObject({
      event: 'task.status_changed',
      data: { taskId: task.id, previousStatus: 'PENDING', newStatus: 'ABORTED' },
    });
    expect(BigInt(aborted?.id ?? 0)).toBeGreaterThan(BigInt(created?.id ?? 0));
    await addEvents({ count: 1, workspaceId: stranger.workspaceId });
    expect(await foreign.atLeast(1)).toHaveLength(1);
    expect(own.events).toHaveLength(2);
  });

  it('a stream has the events that match its filters', async () => {
    const { headers } = await aReader();
    const { owner } = first.db;
    const projectId = await aProject(owner, workspace.id);
    const [taskId, other] = [
      await aTask(owner, workspace.id, { projectId }),
      await aTask(owner, workspace.id),
    ];
    const agent = await workspace.newAgent();
    const streams = {
      types: await followFromNow('/events?types=agent.*,task.progress', headers),
      task: await followFromNow(`/events?taskId=${taskId}`, headers),
      agent: await followFromNow(`/events?agentId=${agent.id}&types=task`, headers),
      project: await followFromNow(`/events?projectId=${projectId}`, headers),
      all: await followFromNow('/events', headers),
    };
    await addEvents({ from: 0, count: 1, event: 'task.of_a_test', taskId });
    const { owner: runner } = first.db;
    for (const [event, of] of [
      ['task.progress', taskId],
      ['task.created', other],
      ['agent.status_changed', null],
    ] as const) {
      await runner.query(
        `INSERT INTO journal (workspace_id, event, task_id, agent_id, actor_kind, new_status)
         VALUES ($1, $2, $3, $4, 'system', 'PENDING')`,
        [workspace.id, event, of, agent.id],
      );
    }
    await streams.all.atLeast(4);
    const names = ({ events }: HeardStream) => events.map(({ event }) => event);
    await waitFor('all of them', () => names(streams.types).length === 2);
    await waitFor('all of them', () => names(streams.project).length === 2);
    expect(names(streams.types)).toEqual(['task.progress', 'agent.status_changed']);
    expect(names(streams.task)).toEqual(['task.of_a_test', 'task.progress']);
    expect(names(streams.agent)).toEqual(['task.progress', 'task.created']);
    expect(names(streams.project)).toEqual(['task.of_a_test', 'task.progress']);
  });

  it('a stream for a key has the events that the key can read', async () => {
    const newKey = async (scopes: string[]) => {
      const values = { name: 'k', scopes, role: 'VIEWER' };
      const { status, body } = await workspace.api.post<{ key: string }>(
        `/workspaces/${workspace.id}/api-keys`,
        values,
      );
      expect(status).toBe(201);
      return { authorization: `Bearer ${body.key}` };
    };
    const tasks = await newKey(['tasks:read']);
    const both = await newKey(['tasks:read', 'agents:write']);
    const refused = await fetch(`${first.url}/api/v1/events?types=agent`, { headers: tasks });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ code: 'insufficient_scope' });
    const [less, more] = [
      await followFromNow('/events', tasks),
      await followFromNow('/events?types=task,agent', both),
    ];
    await addEvents({ count: 1, event: 'coordinator.of_a_test' });
    await addEvents({ count: 1, event: 'agent.of_a_test' });
    await addEvents({ count: 1, event: 'budget.of_a_test' });
    await addEvents({ from: 1, count: 1 });
    await more.atLeast(2);
    await less.atLeast(2);
    const names = less.events.map(({ event }) => event);
    expect(names).toEqual(['budget.of_a_test', 'task.of_a_test']);
    expect(more.events.map(({ event }) => event)).toEqual(['agent.of_a_test', 'task.of_a_test']);
  });

  it.each([
    ['types=task.none', 400, 'validation_failed'],
    ['lastEventId=x', 400, 'validation_failed'],
    [`taskId=${newId()}`, 404, 'task_not_found'],
    [`agentId=${newId()}`, 404, 'agent_not_found'],
    [`projectId=${newId()}`, 404, 'project_not_found'],
    ['ticket=x', 401, 'invalid_token'],
  ])('a stream is refused with %s', async (query, status, code) => {
    const { headers } = await aReader();
    const given = query.startsWith('ticket') ? {} : headers;
    const response = await fetch(`${first.url}/api/v1/events?${query}`, { headers: given });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code });
  });

  it('a stream resumes on another server without gaps and repetitions', async () => {
    const { headers } = await aReader();
    const before = await followFromNow('/events', headers);
    await addEvents({ count: 5 });
    const heard = await before.atLeast(5);
    before.close();
    await addEvents({ from: 5, count: 3_000 });
    const id = heard[2]?.id ?? '';
    const byHeader = await follow('/events', { ...headers, 'last-event-id': id }, second);
    const byQuery = await follow(`/events?lastEventId=${id}`, headers, second);
    await addEvents({ from: 3_005, count: 5 });
    for (const stream of [byHeader, byQuery]) {
      await stream.atLeast(3_007);
      expect(numbersOf(stream)).toEqual(oneTo(3_010).slice(3));
    }
    // The header that a browser sends when it reconnects has priority over the kept address.
    const again = { ...headers, 'last-event-id': byHeader.events.at(-2)?.id ?? '' };
    const last = await follow(`/events?lastEventId=${id}`, again);
    expect((await last.atLeast(1)).map(({ data }) => data['n'])).toEqual([3_009]);
  });

  it('a stream waits for a transaction that commits late and has its events in order', async () => {
    const { headers } = await aReader();
    const stream = await followFromNow('/events', headers);
    const late = await aWriter();
    await addEvents({ count: 1, runner: late });
    await addEvents({ from: 1, count: 2 });
    // A stream starts after it that would have to skip it.
    const joined = await follow('/events', { ...headers, 'last-event-id': stream.lastEventId() });
    await joined.atLeast(0);
    expect([...stream.events, ...joined.events]).toEqual([]);
    await late.query('COMMIT');
    for (const each of [stream, joined]) {
      await each.atLeast(3);
      expect(numbersOf(each)).toEqual([0, 1, 2]);
    }
  });

  it('a stream has the events of a transaction that was open at its start', async () => {
    const { headers } = await aReader();
    await followFromNow('/events', headers);
    const writer = await aWriter();
    await addEvents({ count: 1, runner: writer });
    await addEvents({ from: 1, count: 1 });
    const later = await followFromNow('/events', headers);
    await writer.query('COMMIT');
    await later.atLeast(2);
    expect(numbersOf(later)).toEqual(oneTo(2));
  });

  it('a stream reports expired events and continues with the remaining ones', async () => {
    const { headers } = await aReader();
    const stream = await followFromNow('/events', headers);
    await addEvents({ count: 3 });
    const [one, two] = await stream.atLeast(3);
    const row = BigInt(two?.id ?? 0) / 2n;
    await first.db.owner.query(`SELECT setval('journal_dropped_seq', $1)`, [`${row}`]);
    undo.push(() => first.db.owner.query(`SELECT setval('journal_dropped_seq', 0)`));
    const expired = await follow('/events', { ...headers, 'last-event-id': '2' });
    const [reset, next] = await expired.atLeast(2);
    expect(reset).toMatchObject({ event: 'reset', data: { code: 'events_expired', status: 410 } });
    expect(next?.data['n']).toBe(2);
    expect(BigInt(one?.id ?? 0)).toBeLessThan(BigInt(next?.id ?? 0));

    const unknown = { ...headers, 'last-event-id': '9000000000000000000' };
    const future = await follow('/events', unknown, second);
    await future.atLeast(1);
    await addEvents({ from: 3, count: 1 });
    await future.atLeast(2);
    expect(future.events.map(({ event }) => event)).toEqual(['reset', 'task.of_a_test']);
  });

  it('a stream ends with the session, the membership and the workspace', async () => {
    const [signedOut, removed] = [await aReader(), await aReader()];
    const [one, two] = [
      await followFromNow('/events', signedOut.headers),
      await followFromNow('/events', removed.headers, second),
    ];
    const logout = await fetch(`${first.url}/api/v1/auth/logout`, {
      method: 'POST',
      headers: signedOut.headers,
    });
    expect(logout.status).toBe(204);
    await workspace.api.delete(`/workspaces/${workspace.id}/members/${removed.userId}`);
    await Promise.all([one.ended, two.ended]);
    expect(one.events).toMatchObject([{ event: 'end', data: { code: 'token_revoked' } }]);
    expect(two.events).toMatchObject([{ event: 'end', data: { code: 'workspace_not_found' } }]);
  });

  it('a stream opened with a ticket ends with the token of the ticket', async () => {
    const { userId, sessionId } = await aReader();
    const tokens = first.app.get(TokenService, { strict: false });
    const claims = { userId, sessionId, workspaceId: workspace.id };
    const { token: ticket } = tokens.issueTicket(claims, Date.now() + 1_500);
    const stream = await followFromNow(`/events?ticket=${ticket}`, {}, second);
    await addEvents({ count: 1 });
    expect((await stream.atLeast(1))[0]?.data).toMatchObject({ n: 0, workspaceId: workspace.id });
    await stream.ended;
    expect(stream.events[1]).toMatchObject({ event: 'end', data: { code: 'token_expired' } });
  });

  it('a ticket is no token, and a token is no ticket', async () => {
    const { headers } = await aReader();
    const response = await fetch(`${first.url}/api/v1/events/tickets`, { method: 'POST', headers });
    const { ticket, expiresInSeconds } = (await response.json()) as Record<string, unknown>;
    expect([response.status, expiresInSeconds]).toEqual([201, 60]);
    const status = async (path: string, given = {}) =>
      (await fetch(`${first.url}/api/v1${path}`, { headers: given })).status;
    const asToken = { authorization: `Bearer ${String(ticket)}` };
    expect(await status('/events', asToken)).toBe(401);
    expect(await status('/agent-tasks', asToken)).toBe(401);
    expect(await status(`/agent-tasks?ticket=${String(ticket)}`)).toBe(401);
    const token = headers.authorization.slice('Bearer '.length);
    expect(await status(`/events?ticket=${token}`)).toBe(401);
    const elsewhere = { 'x-workspace-id': (await first.newWorkspace()).id };
    expect(await status(`/events?ticket=${String(ticket)}`, elsewhere)).toBe(404);
    expect((await followFromNow(`/events?ticket=${String(ticket)}`, {})).status).toBe(200);
  });

  it('a user can open a limited number of streams', async () => {
    const { headers } = await aReader();
    const streams = [];
    for (let n = 0; n < STREAMS_OF_A_USER; n++) streams.push(await follow('/events', headers));
    const refused = await fetch(`${first.url}/api/v1/events`, { headers });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 'too_many_streams' });
    streams[0]?.close();
    await waitFor('a place', async () => (await follow('/events', headers)).status === 200);
  });

  it('a workspace can open a limited number of streams at a server', async () => {
    const crowded = await first.newWorkspace();
    const { maxStreamsPerWorkspace } = first.app.get<Config>(CONFIG).http;
    const streams = [];
    while (streams.length < maxStreamsPerWorkspace) {
      const { headers } = await aReader('VIEWER', crowded.id);
      for (let n = 0; n < STREAMS_OF_A_USER && streams.length < maxStreamsPerWorkspace; n++) {
        streams.push(await follow('/events', headers));
      }
    }
    const { headers } = await aReader('VIEWER', crowded.id);
    const refused = await fetch(`${first.url}/api/v1/events`, { headers });
    expect(refused.status).toBe(429);
    const problem = (await refused.json()) as { code: string; detail: string };
    expect(problem.code).toBe('too_many_streams');
    expect(problem.detail).toContain('The workspace');
    expect((await follow('/events', (await aReader()).headers)).status).toBe(200);
    streams[0]?.close();
    await waitFor('a place', async () => (await follow('/events', headers)).status === 200);
  });

  it('a stream buffers little for a slow client, who later gets everything', async () => {
    const { headers } = await aReader();
    const sockets: Socket[] = [];
    const server = first.app.getHttpServer() as import('node:http').Server;
    const note = (socket: Socket) => sockets.push(socket);
    server.on('connection', note);
    undo.push(() => server.off('connection', note));
    const client = connect(Number(new URL(first.url).port), '127.0.0.1');
    undo.push(() => client.destroy());
    client.pause();
    client.write(
      `GET /api/v1/events HTTP/1.1\r\nhost: x\r\nauthorization: ${headers.authorization}\r\n\r\n`,
    );
    const other = await followFromNow('/events', headers);
    // More than the buffers of both ends of the connection.
    await addEvents({ count: 8_000, size: 2_000 });
    await other.atLeast(8_000);
    const waiting = Math.max(...sockets.map(({ writableLength }) => writableLength));
    expect(waiting).toBeGreaterThan(0);
    expect(waiting).toBeLessThan(256 * 1_024);
    let text = '';
    client.setEncoding('utf8').on('data', (part: string) => (text += part));
    client.resume();
    await waitFor('the last one', () => text.includes('"n":7999,'));
    const heard = [...text.matchAll(/"n":(\d+),/g)].map(([, n]) => Number(n));
    expect(heard).toEqual(oneTo(8_000));
  });
});

describe('a stream of a log', () => {
  it('a log stream starts at the beginning of the log, follows it, and resumes', async () => {
    const { headers } = await aReader();
    const body = { title: 'A task', taskType: 'test' };
    const { body: task } = await workspace.api.post<{ id: string }>('/agent-tasks', body);
    const stream = await follow(`/agent-tasks/${task.id}/logs/stream`, headers);
    await stream.atLeast(1);
    await workspace.api.post(`/agent-tasks/${task.id}/cancel`);
    const [created, cancelled] = await stream.atLeast(2);
    expect(created).toMatchObject({ event: 'log', data: { event: 'task_created' } });
    expect(cancelled).toMatchObject({ data: { action: 'task_cancelled', taskId: task.id } });
    const resumed = await follow(
      `/agent-tasks/${task.id}/logs/stream`,
      { ...headers, 'last-event-id': created?.id ?? '' },
      second,
    );
    expect(await resumed.atLeast(1)).toEqual([cancelled]);
  });

  it('a log stream reports expired entries and unknown ids', async () => {
    const { headers } = await aReader();
    const { body: task } = await workspace.api.post<{ id: string }>('/agent-tasks', {
      title: 'A task',
      taskType: 'test',
    });
    const path = `/agent-tasks/${task.id}/logs/stream`;
    await first.db.owner.query(`SELECT setval('journal_dropped_seq', 2)`);
    undo.push(() => first.db.owner.query(`SELECT setval('journal_dropped_seq', 0)`));
    const expired = await follow(path, { ...headers, 'last-event-id': '1' });
    const [reset, created] = await expired.atLeast(2);
    expect(reset).toMatchObject({ event: 'reset', data: { code: 'events_expired', status: 410 } });
    expect(created).toMatchObject({ event: 'log', data: { event: 'task_created' } });
    const future = await follow(path, { ...headers, 'last-event-id': '9000000000000000000' });
    await future.atLeast(1);
    await workspace.api.post(`/agent-tasks/${task.id}/cancel`);
    await future.atLeast(2);
    expect(future.events.map(({ event }) => event)).toEqual(['reset', 'log']);
  });

  it('a log stream sends lines at once, and waits for an earlier one that is being written', async () => {
    const own = await first.newWorkspace();
    const { headers } = await aReader('VIEWER', own.id);
    const body = { title: 'A task', taskType: 'test' };
    const { body: task } = await own.api.post<{ id: string }>('/agent-tasks', body);
    const agent = await own.newAgent();
    const { body: claimed } = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
      `/agents/${agent.id}/claim`,
    );
    const runId = claimed.tasks[0]?.run.id;
    const say = (message: string) =>
      agent.api.post(`/runs/${runId}/logs`, { entries: [{ message, event: 'said' }] });
    const path = `/agent-tasks/${task.id}/logs/stream?event=said`;
    const stream = await follow(path, headers, second);
    const messages = () => stream.events.map(({ data }) => data['message']);
    // A busy machine can be slow for a while.
    await waitFor('a line that arrives at once', async () => {
      const count = stream.events.length;
      await say('now');
      const sent = Date.now();
      await stream.atLeast(count + 1);
      return Date.now() - sent < 1_000;
    });
    const before = stream.events.length;
    const writer = await aWriter();
    await writer.query(
      `INSERT INTO task_log_lines (workspace_id, task_id, event, message, actor_kind)
       VALUES ($1, $2, 'said', 'earlier', 'system')`,
      [own.id, task.id],
    );
    await say('later');
    await writer.query('COMMIT; BEGIN');
    await stream.atLeast(before + 2);
    expect(messages().slice(before)).toEqual(['earlier', 'later']);
  });

  it('a log stream of a missing task is refused', async () => {
    const { headers } = await aReader();
    const stream = await follow(`/agent-tasks/${newId()}/logs/stream`, headers);
    expect(stream.status).toBe(404);
  });
});

it('streams end with their server, so that clients go elsewhere', async () => {
  const third = await startTestApp({ ROLES: 'api' }, first.db);
  const { headers } = await aReader();
  const stream = await followFromNow('/events', headers, third);
  await third.app.close();
  await stream.ended;
  expect(stream.events).toEqual([]);
});
