import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { waitFor } from '../../../../test/support/wait-for.js';
import { apiClient } from '../../../../test/support/api-client.js';
import { type ApiClient } from '../../../../test/support/api-client.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';

interface Pause {
  id: string;
  pausedBy: string;
  endedAt: string | null;
  endedBy: string | null;
}

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer('all');
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());

async function anApiKey(): Promise<{ id: string; api: ApiClient }> {
  const body = { name: 'deploy', role: 'ADMIN', scopes: ['workspace:admin', 'tasks:read'] };
  const path = `/workspaces/${workspace.id}/api-keys`;
  const answer = await workspace.api.post<{ id: string; key: string }>(path, body);
  expect(answer.status).toBe(201);
  const { id, key } = answer.body;
  return { id, api: apiClient(server.url, { authorization: `Bearer ${key}` }) };
}

async function pause(values: Record<string, unknown>, api = workspace.api): Promise<Pause> {
  const answer = await api.post<Pause>('/pauses', { reason: 'Release day', ...values });
  expect(answer.status).toBe(201);
  return answer.body;
}

async function end(id: string, api = workspace.api): Promise<Pause & { remaining: string[] }> {
  const answer = await api.delete<Pause & { remaining: string[] }>(`/pauses/${id}`);
  expect(answer.status).toBe(200);
  return answer.body;
}

const ofType = (taskType: string) => pause({ scope: 'task_type', taskType });

it('a pause and its end name the API key', async () => {
  const key = await anApiKey();
  await workspace.newAgent();
  const paused = await pause({ scope: 'workspace' }, key.api);
  expect(paused.pausedBy).toBe(`api_key:${key.id}`);
  const task = { title: 'T', taskType: 'test' };
  const { body } = await workspace.api.post<{ id: string }>('/agent-tasks', task);
  const explained = await workspace.api.get(`/agent-tasks/${body.id}/explain`);
  expect(explained.body).toMatchObject({
    reasons: [{ code: 'held_by_pause', facts: { by: `api_key:${key.id}`, byName: 'deploy' } }],
  });
  expect((await end(paused.id, key.api)).endedBy).toBe(`api_key:${key.id}`);

  const byHand = await pause({ scope: 'workspace' });
  expect(byHand.pausedBy).toBe(`user:${workspace.userId}`);
  expect(await end(byHand.id, key.api)).toMatchObject({
    pausedBy: `user:${workspace.userId}`,
    endedBy: `api_key:${key.id}`,
  });
});

it('the audit log says what a pause and its end hold, once', async () => {
  const key = await anApiKey();
  const paused = await pause({ scope: 'task_type', taskType: 'test', endRuns: true }, key.api);
  await end(paused.id);
  await end(paused.id);
  const { body } = await workspace.api.get<{ items: object[] }>('/audit-log?limit=3');
  const details = { pauseId: paused.id, scope: 'task_type', taskType: 'test', endRuns: true };
  const said = { details: { ...details, reason: 'Release day' } };
  expect(body.items).toMatchObject([
    { operation: 'endPause', details: {} },
    { operation: 'endPause', actorKind: 'user', actorId: workspace.userId, ...said },
    { operation: 'createPause', actorKind: 'api_key', actorId: key.id, ...said },
  ]);
  const everything = await key.api.post('/pauses', { scope: 'everything', reason: 'An outage' });
  expect(everything).toMatchObject({
    status: 403,
    body: { detail: 'Only operators of this installation may, signed in as users.' },
  });
});

it('the end of a pause names the pauses that still hold its tasks', async () => {
  const tests = await ofType('test');
  const again = await ofType('test');
  const builds = await ofType('build');
  const all = await pause({ scope: 'workspace' });
  expect((await end(tests.id)).remaining).toEqual([all.id, again.id]);
  expect((await end(all.id)).remaining).toEqual([builds.id, again.id]);
  expect((await end(again.id)).remaining).toEqual([]);
});

it('a pause that another request ends meanwhile is answered as ended', async () => {
  const { owner } = server.db;
  const paused = await pause({ scope: 'workspace' });
  const connection = await owner.connect();
  try {
    await connection.query('BEGIN');
    const ending = 'UPDATE pauses SET ended_at = now(), ended_by = paused_by WHERE id = $1';
    await connection.query(ending, [paused.id]);
    const answer = end(paused.id);
    await waitFor('the request to wait for the other', async () => {
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND query LIKE '%UPDATE pauses%'`;
      return (await owner.query(waiting)).rows.length > 0;
    });
    await connection.query('COMMIT');
    const endedBy = `user:${workspace.userId}`;
    expect(await answer).toMatchObject({ endedAt: expect.any(String), endedBy });
  } finally {
    connection.release();
  }
});
