import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { checkRebuildable } from '#lib/invariants';
import { ValkeyClient } from '#lib/valkey';
import { startTestApp, type TestAgent, type TestApp } from '../../../test/support/app.js';
import { FaultyProxy } from '../../../test/support/proxy/faulty-proxy.js';
import { testValkey } from '../../../test/support/valkey.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { isView } from './domain/commands.js';

type Body = Record<string, unknown>;

const place = testValkey();
let valkey: ValkeyClient;
let server: TestApp;
let workspace: Awaited<ReturnType<TestApp['newWorkspace']>>;
let agent: TestAgent;
let proxy: FaultyProxy | undefined;

beforeAll(async () => {
  valkey = new ValkeyClient(place);
  await valkey.ready(5_000);
  await start('true');
});

/** Starts a server with the same keys. @param db that of the server before */
async function start(setting: string, db?: TestApp['db'], valkeyUrl = place.url): Promise<void> {
  const env = {
    VALKEY_URL: valkeyUrl,
    VALKEY_KEY_PREFIX: place.keyPrefix,
    VALKEY_VIEWS: setting,
    ROLES: 'api,relay',
  };
  server = await startTestApp(env, db);
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 5 });
}

afterAll(async () => {
  await server.stop();
  await proxy?.close();
  await clear();
  valkey.close();
});

async function allKeys(): Promise<string[]> {
  const keys = await valkey.commands.keys(`${place.keyPrefix}*`);
  return keys.map((key) => key.slice(place.keyPrefix.length));
}

async function clear(): Promise<void> {
  const keys = await allKeys();
  if (keys.length > 0) await valkey.commands.unlink(...keys);
}

async function create(values: Body = {}): Promise<string> {
  const body = { title: 'T', taskType: 'test', retryBackoffSeconds: 300, ...values };
  const answer = await workspace.api.post<{ id: string }>('/agent-tasks', body);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

async function claim(): Promise<{ id: string; runId: string }> {
  const { body } = await agent.api.post<{ tasks: { run: { id: string }; task: { id: string } }[] }>(
    `/agents/${agent.id}/claim`,
    {},
  );
  const [claimed] = body.tasks;
  if (!claimed) throw new Error('nothing to claim');
  return { id: claimed.task.id, runId: claimed.run.id };
}

/** All views that do not end by themselves. */
async function views() {
  const { commands } = valkey;
  return {
    pending: await commands.zrange(`tasks:pending:${workspace.id}`, 0, -1, 'WITHSCORES'),
    active: (await commands.smembers(`tasks:active:${workspace.id}`)).sort(),
    held: await commands.hgetall(`agent:tasks:${agent.id}`),
    status: await commands.hgetall(`agent:status:${agent.id}`),
    stale: await commands.zrange('coordinator:stale_agents', 0, -1),
    recovery: await commands.lrange(`coordinator:recovery_queue:${workspace.id}`, 0, -1),
  };
}

async function until(what: string, holds: (now: Awaited<ReturnType<typeof views>>) => boolean) {
  await waitFor(what, async () => holds(await views()));
}

const createdAt = async (id: string) =>
  Date.parse((await workspace.api.get<{ createdAt: string }>(`/agent-tasks/${id}`)).body.createdAt);

it('the views follow tasks, runs and agents, and return after a flush', async () => {
  const { commands } = valkey;
  const [low, high] = [await create({ priority: 3 }), await create({ priority: 9 })];
  await until('both to wait', ({ pending }) => pending.length === 4);
  expect((await views()).pending).toEqual([
    high,
    `${1e13 + (await createdAt(high))}`,
    low,
    `${7e13 + (await createdAt(low))}`,
  ]);

  const run = await claim();
  expect(run.id).toBe(high);
  await until('the claim', ({ held }) => held[high] !== undefined);
  expect(await commands.get(`task:assign_lock:${high}`)).toBe(agent.id);
  expect(await commands.pttl(`task:assign_lock:${high}`)).toBeLessThanOrEqual(5_000);
  expect((await views()).active).toEqual([`${high}:${run.runId}`]);

  await agent.api.post(`/runs/${run.runId}/start`, { sessionKey: 'a-session' });
  await agent.api.post(`/agents/${agent.id}/heartbeat`, { status: 'healthy', currentTaskId: high });
  await until('the start', ({ active }) => active.includes(`${high}:a-session`));
  expect(await commands.hgetall('session:context:a-session')).toEqual({
    workspace_id: workspace.id,
    agent_id: agent.id,
    task_id: high,
    started_at: expect.stringMatching(/^\d{13}$/),
  });
  expect(await commands.exists(`session:context:${run.runId}`)).toBe(0);
  expect(await commands.ttl('session:context:a-session')).toBeGreaterThan(3_500);
  expect(await commands.ttl(`agent:heartbeat:${agent.id}`)).toBeLessThanOrEqual(60);
  const heartbeat = JSON.parse((await commands.get(`agent:heartbeat:${agent.id}`)) ?? '{}') as Body;
  expect(heartbeat).toMatchObject({ status: 'healthy', task_id: high });
  await waitFor('the heartbeat in Postgres', async () => {
    const sql = 'SELECT FROM agent_heartbeats WHERE agent_id = $1 AND last_seen_at IS NOT NULL';
    return (await server.db.owner.query(sql, [agent.id])).rowCount === 1;
  });

  const failing = await claim();
  const error = { message: 'no', class: 'exit_code' };
  await agent.api.post(`/runs/${failing.runId}/fail`, { error });
  await until('the retry', ({ recovery }) => recovery.length === 1);
  const before = await views();
  expect(before).toEqual({
    pending: [],
    active: [`${high}:a-session`],
    held: { [high]: expect.stringMatching(/^\d{13}$/) },
    status: {
      status: 'WORKING',
      current_task: high,
      last_heartbeat: expect.stringMatching(/^\d{13}$/),
    },
    stale: [],
    recovery: [low],
  });
  const violations = async () => (await checkRebuildable(server.db.serviceUrl, place)).violations;
  expect(await violations()).toEqual([]);
  const pending = `tasks:pending:${workspace.id}`;
  await commands.zadd(pending, 1, low);
  expect(await violations()).toEqual([
    { subject: `key ${pending}`, problem: `has ${low}, and Postgres has not` },
  ]);

  await clear();
  await until('the keys to be made anew', ({ recovery }) => recovery.length === 1);
  await waitFor('the rebuild to end', async () =>
    /^\d+$/.test((await commands.get('views:position')) ?? ''),
  );
  const last_heartbeat = expect.stringMatching(/^\d{13}$/);
  expect(await views()).toEqual({ ...before, status: { ...before.status, last_heartbeat } });

  // A consumer that repeats its batch, as after a crash.
  await server.db.owner.query(
    `UPDATE event_consumers SET position = 0, owner = NULL, leased_until = NULL
      WHERE name = 'runtime-views'`,
  );
  await agent.api.post(`/runs/${run.runId}/complete`, {});
  await until('the completion', ({ active }) => active.length === 0);
  const completed = await views();
  expect(completed).toMatchObject({ status: { status: 'IDLE' }, recovery: [low] });
  expect(completed.held).toEqual({});
  expect((await views()).status['current_task']).toBeUndefined();
  expect(await violations()).toEqual([]);
  await workspace.api.post(`/agent-tasks/${low}/cancel`);
  await until('the end of the retry', ({ recovery }) => recovery.length === 0);

  await server.db.owner.query(
    `UPDATE agents SET lifecycle = 'ERROR', error_at = now() WHERE id = $1`,
    [agent.id],
  );
  await clear();
  await until('the stale agent', ({ stale }) => stale[0] === agent.id);
  await workspace.api.post(`/agents/${agent.id}/terminate`, { reason: 'over' });
  await until('the end of the agent', ({ stale, status }) => {
    return stale.length === 0 && Object.keys(status).length === 0;
  });
});

it('with the setting off, a server removes the views and writes none', async () => {
  await create();
  await until('the views', ({ pending }) => pending.length > 0);
  await server.app.close();
  await start('false', server.db);
  const [taskId] = [await create(), await create()];
  const [run, failing] = [await claim(), await claim()];
  await agent.api.post(`/runs/${run.runId}/start`, { sessionKey: 'a-session' });
  await agent.api.post(`/agents/${agent.id}/heartbeat`, { status: 'healthy' });
  const error = { message: 'no', class: 'exit_code' };
  await agent.api.post(`/runs/${failing.runId}/fail`, { error });
  await waitFor('all events to be read, by other consumers', async () => {
    const { rows } = await server.db.owner.query<{ name: string; is_behind: boolean }>(
      `SELECT name, position < (SELECT max(id) FROM journal) AS is_behind FROM event_consumers`,
    );
    return rows.every(({ name, is_behind }) => name !== 'runtime-views' && !is_behind);
  });
  await waitFor('the heartbeat in Valkey', async () =>
    (await allKeys()).includes(`agent:heartbeat:${workspace.id}:${agent.id}`),
  );
  // Those of the server before expire by themselves.
  const ofThis = (key: string) => key.includes(agent.id) || key.includes(taskId);
  const views = (await allKeys()).filter(
    (key) => isView(key) || key.startsWith('views:') || ofThis(key),
  );
  expect(views).toEqual([`agent:heartbeat:${workspace.id}:${agent.id}`]);
});

it('with the setting off, a server removes the views when Valkey comes back', async () => {
  await valkey.commands.zadd(`tasks:pending:${workspace.id}`, 1, 'a task');
  await valkey.commands.set('views:position', '1');
  proxy = await FaultyProxy.to(place.url);
  proxy.cut();
  await server.app.close();
  await start('false', server.db, proxy.url);
  const old = async () =>
    (await allKeys()).filter((key) => isView(key) || key.startsWith('views:'));
  expect(await old()).toHaveLength(2);
  proxy.mend();
  await waitFor('the views to be removed', async () => (await old()).length === 0);
});
