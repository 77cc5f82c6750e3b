import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { QueueDepths } from './queue-depths.js';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import {
  GATEWAY_SECRET,
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { aUser } from '../../../../test/support/factories.js';
import { expectNothingLeftOpen } from '../../../../test/support/leaks.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { StandInGateway } from '../../../work/runs/sessions/testing/stand-in-gateway.js';
import { TokenService } from '../../identity/index.js';

let gateway: StandInGateway;
let server: TestApp;
let workspace: TestWorkspace;
let agent: TestAgent;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  server = await startTestApp({
    GATEWAY_URL: gateway.url,
    GATEWAY_SECRET,
    MAX_QUEUE_DEPTH_PER_WORKSPACE: '1000',
    COORDINATOR_LOCK_TTL_SECONDS: '3',
  });
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 50 });
});
afterEach(() => expectNothingLeftOpen(server.db.owner));
afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

async function anOperator(): Promise<Record<string, string>> {
  const userId = await aUser(server.db.owner, { isOperator: true });
  const sessionId = newId();
  await server.db.owner.query(
    `WITH member AS (INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($3, $2, 'ADMIN'))
     INSERT INTO user_sessions (id, user_id, refresh_hash, expires_at)
     VALUES ($1, $2, decode(md5($1::uuid::text), 'hex'), now() + interval '1 day')`,
    [sessionId, userId, workspace.id],
  );
  const tokens = server.app.get(TokenService, { strict: false });
  const { token } = tokens.issueUserToken({ userId, sessionId, workspaceId: null });
  return { authorization: `Bearer ${token}`, 'x-workspace-id': workspace.id };
}

async function submit(taskType = 'test', values: Record<string, unknown> = {}): Promise<string> {
  const body = { title: 'A task', taskType, ...values };
  const answer = await workspace.api.post<{ id: string }>('/agent-tasks', body);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

interface Claimed {
  tasks: { task: { id: string; taskType: string } }[];
  reason?: string;
}

const claim = async (wish: Record<string, unknown> = {}) =>
  (await agent.api.post<Claimed>(`/agents/${agent.id}/claim`, wish)).body;

interface Pause {
  id: string;
  endedAt: string | null;
  endedBy: string | null;
}

async function pause(values: Record<string, unknown>, headers?: Record<string, string>) {
  const body = { reason: 'The licence server is down', ...values };
  return workspace.api.post<Pause>('/pauses', body, headers);
}

async function resume(id: string, headers?: Record<string, string>) {
  const path = `/pauses/${id}`;
  const answer = await workspace.api.delete<Pause & { remaining: string[] }>(path, headers);
  expect(answer.status).toBe(200);
  const { remaining, ...ended } = answer.body;
  expect(remaining).toEqual([]);
  return ended;
}

describe('a pause', () => {
  it('a pause of the workspace holds every task back, names its author and reason, and wakes waiting claims at its end', async () => {
    const { status, body } = await pause({ scope: 'workspace' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      scope: 'workspace',
      taskType: null,
      reason: 'The licence server is down',
      pausedBy: `user:${workspace.userId}`,
      until: null,
      endedAt: null,
    });
    const id = await submit();
    expect(await claim()).toEqual({ tasks: [], reason: 'paused' });
    const waiting = claim({ waitMs: 20_000 });
    const listed = await workspace.api.get<{ items: Pause[] }>('/pauses');
    expect(listed.body.items).toEqual([body]);
    const ended = await resume(body.id);
    expect(ended).toMatchObject({
      endedBy: `user:${workspace.userId}`,
      endedAt: expect.any(String),
    });
    expect((await waiting).tasks[0]?.task.id).toBe(id);
    expect(await resume(body.id)).toEqual(ended);
    const after = await workspace.api.get<{ items: Pause[] }>('/pauses');
    expect(after.body.items).toEqual([]);
    const all = await workspace.api.get<{ items: Pause[] }>('/pauses?ended=true');
    expect(all.body.items).toEqual([ended]);
  });

  it('a pause of one type lets other types pass thousands of its tasks', async () => {
    const tasks = Array.from({ length: 300 }, () => ({ title: 'Held', taskType: 'held' }));
    await workspace.api.post('/agent-tasks/batch', { tasks });
    const { body } = await pause({ scope: 'task_type', taskType: 'held' });
    const free = await submit('free');
    expect((await claim({ maxTasks: 5 })).tasks.map(({ task }) => task.id)).toEqual([free]);
    const suspended = async () => {
      const { rows } = await server.db.owner.query<{ suspended: number }>(
        `SELECT count(*)::int AS suspended FROM agent_tasks
         WHERE workspace_id = $1 AND capability_key LIKE '!%'`,
        [workspace.id],
      );
      return rows[0]?.suspended;
    };
    await waitFor('all of them to be out of the way', async () => (await suspended()) === 300);
    // Tasks that it could take wait, and only because of the pause.
    expect((await claim()).reason).toBe('paused');
    await resume(body.id);
    await waitFor('all of them to be back', async () => (await suspended()) === 0);
    expect((await claim({ maxTasks: 49 })).tasks).toHaveLength(49);
  });

  it('a pause is no reason for an agent that no paused task concerns', async () => {
    await pause({ scope: 'task_type', taskType: 'held' });
    expect((await claim()).reason).toBe('nothing_ready');
    await submit('held', { requiredCapabilities: ['what-nobody-has'] });
    expect((await claim()).reason).toBe('nothing_ready');
    await submit('held');
    expect(await claim()).toEqual({ tasks: [], reason: 'paused' });
  });

  it('a pause does not hide that an agent is full', async () => {
    const small = await workspace.newAgent({ maxConcurrentTasks: 1 });
    await Promise.all([submit(), submit()]);
    const ask = async () => (await small.api.post<Claimed>(`/agents/${small.id}/claim`)).body;
    expect((await ask()).tasks).toHaveLength(1);
    expect(await ask()).toEqual({ tasks: [], reason: 'agent_full' });
    const lost = await workspace.newAgent({ lifecycle: 'ERROR' });
    const answer = await lost.api.post<Claimed>(`/agents/${lost.id}/claim`);
    expect(answer.body).toEqual({ tasks: [], reason: 'agent_in_error' });
  });

  it('during a pause a completed run claims no next task, and live runs finish', async () => {
    await submit();
    await submit();
    const [held] = (await claim()).tasks as unknown as { run: { id: string } }[];
    await pause({ scope: 'workspace' });
    const done = await agent.api.post<{ status: string; claimed: unknown[] }>(
      `/runs/${held?.run.id}/complete`,
      { claimNext: { maxTasks: 1 } },
    );
    expect(done.body).toMatchObject({ status: 'COMPLETED', claimed: [] });
  });

  it('a pause ends at its time and wakes waiting claims', async () => {
    const { body } = await pause({
      scope: 'workspace',
      until: new Date(Date.now() + 1_500).toISOString(),
    });
    const id = await submit();
    expect((await claim({ waitMs: 20_000 })).tasks[0]?.task.id).toBe(id);
    const ended = await waitFor('it to be ended', async () => {
      const all = await workspace.api.get<{ items: Pause[] }>('/pauses?ended=true');
      return all.body.items.find((one) => one.id === body.id && one.endedAt !== null);
    });
    expect(ended.endedBy).toBeNull();
  });

  it('only operators can pause everything, in every workspace', async () => {
    expect(await pause({ scope: 'everything' })).toMatchObject({ status: 403 });
    const operator = await anOperator();
    const { status, body } = await pause({ scope: 'everything' }, operator);
    expect(status).toBe(201);
    const other = await server.newWorkspace();
    await other.api.post('/agent-tasks', { title: 'T', taskType: 'test' });
    const theirs = await other.newAgent();
    const answer = await theirs.api.post<Claimed>(`/agents/${theirs.id}/claim`, {});
    expect(answer.body).toEqual({ tasks: [], reason: 'paused' });
    const seen = await other.api.get<{ items: Pause[] }>('/pauses');
    expect(seen.body.items).toMatchObject([{ id: body.id, scope: 'everything' }]);
    expect((await other.api.delete(`/pauses/${body.id}`)).status).toBe(403);
    await resume(body.id, operator);
    const { rows: entries } = await server.db.owner.query(
      `SELECT operation, details FROM installation_audit_log
       WHERE details ->> 'pauseId' = $1 ORDER BY id`,
      [body.id],
    );
    const reason = 'The licence server is down';
    const details = { pauseId: body.id, scope: 'everything', endRuns: false, reason };
    expect(entries).toEqual([
      { operation: 'createPause', details },
      { operation: 'endPause', details },
    ]);
    const own = await workspace.api.get<{ items: { operation: string }[] }>('/audit-log');
    expect(own.body.items.map(({ operation }) => operation)).not.toContain('endPause');
    const again = await theirs.api.post<Claimed>(`/agents/${theirs.id}/claim`, {});
    expect(again.body.tasks).toHaveLength(1);
  });

  it('a pause holds tasks back from push agents, too', async () => {
    await workspace.api.put(`/agents/${newId()}`, {
      name: 'Pushed',
      mode: 'push',
      command: ['node'],
      maxConcurrentTasks: 9,
    });
    await heartbeat();
    const held = await pause({ scope: 'task_type', taskType: 'held' });
    const [paused, free] = [await submit('held'), await submit('free')];
    const spawned = () => gateway.spawns.map((spawn) => spawn.taskId);
    await gateway.until(() => spawned().includes(free));
    expect(spawned()).not.toContain(paused);
    await resume(held.body.id);
    await gateway.until(() => spawned().includes(paused));
  });

  it.each([
    [{ scope: 'task_type' }, 'taskType'],
    [{ scope: 'workspace', taskType: 'x' }, 'taskType'],
    [{ scope: 'workspace', until: '2020-01-01T00:00:00Z' }, 'until'],
    [{ scope: 'workspace', reason: '' }, 'reason'],
  ])('an invalid pause is refused: %j', async (values, field) => {
    const answer = await pause(values);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field }] } });
  });

  it('only ADMINs can pause', async () => {
    const member = await server.newWorkspace('MEMBER');
    const answer = await member.api.post('/pauses', { scope: 'workspace', reason: 'Why not' });
    expect(answer.status).toBe(403);
  });
});

async function heartbeat(): Promise<void> {
  const headers = { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` };
  const { status } = await apiClient(server.url, headers).post('/gateway/heartbeat', {
    ...gateway.nextHeartbeat(),
    capacity: 1_000,
    running: 0,
    queued: 0,
    sessions: [...gateway.sessions].map(([runId, { sessionKey }]) => ({
      runId,
      sessionKey,
      status: 'RUNNING',
    })),
  });
  expect(status).toBe(200);
}

describe('the limits of a workspace', () => {
  async function limit(values: Record<string, unknown>) {
    const path = `/workspaces/${workspace.id}/limits`;
    const { authorization = '' } = await anOperator();
    const operator = apiClient(server.url, { authorization });
    const answer = await operator.put<{ version: number }>(path, {
      maxQueueDepth: null,
      spawnsPerMinute: null,
      ...values,
    });
    expect(answer.status).toBe(200);
    return { path, operator, version: answer.body.version };
  }

  it('operators set limits under If-Match, and members see them', async () => {
    const { path, operator, version } = await limit({ maxQueueDepth: 5 });
    expect((await workspace.api.get(path)).body).toMatchObject({
      maxQueueDepth: 5,
      spawnsPerMinute: null,
      effectiveMaxQueueDepth: 5,
    });
    const wanted = { maxQueueDepth: 6, spawnsPerMinute: 7, maxArtifactMb: 8 };
    expect((await workspace.api.put(path, wanted)).status).toBe(403);
    const stale = await operator.put(path, wanted, { 'if-match': `"${version + 1}"` });
    expect(stale).toMatchObject({ status: 412, body: { code: 'version_mismatch' } });
    expect(await operator.put(path, wanted, { 'if-match': `"${version}"` })).toMatchObject({
      status: 200,
      body: wanted,
    });
    expect((await workspace.api.get(path)).body).toMatchObject(wanted);
    const others = { maxQueueDepth: null, spawnsPerMinute: null };
    expect((await operator.put(path, others)).body).toMatchObject({ maxArtifactMb: 8 });
    const cleared = await operator.put(path, { ...others, maxArtifactMb: null });
    expect(cleared.body).toMatchObject({ maxArtifactMb: null });
    const unknown = `/workspaces/${newId()}/limits`;
    expect((await operator.put(unknown, wanted)).status).toBe(404);
  });

  it('tasks beyond the maximum queue depth are refused', async () => {
    await limit({ maxQueueDepth: 2 });
    const tasks = Array.from({ length: 3 }, () => ({ title: 'T', taskType: 'test' }));
    const refused = await workspace.api.post('/agent-tasks/batch', { tasks });
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'exceeds_queue', limit: 2, wanted: 3 },
    });
    expect(refused.headers.get('retry-after')).toBeNull();
    const key = { 'idempotency-key': newId() };
    const post = async () =>
      (await workspace.api.post('/agent-tasks/batch', { tasks }, key)).status;
    expect(await post()).toBe(422);
    await limit({ maxQueueDepth: 3 });
    expect(await post()).toBe(201);
  });

  it('a full queue does not refuse a creation that only moves the start of a waiting task', async () => {
    await limit({ maxQueueDepth: 1 });
    const task = { title: 'T', taskType: 'test', debounceKey: 'k', delaySeconds: 600 };
    const post = (body: object) => workspace.api.post<{ id: string }>('/agent-tasks', body);
    const first = await post(task);
    expect(first.status).toBe(201);
    const moved = await post({ ...task, delaySeconds: 1_200 });
    expect(moved).toMatchObject({ status: 201, body: { id: first.body.id } });
    expect((await post({ ...task, debounceKey: 'other' })).body).toMatchObject({
      code: 'queue_full',
    });
  });

  it('tasks that do not fit into the queue are refused together, with Retry-After', async () => {
    await limit({ maxQueueDepth: 3 });
    await submit();
    const tasks = Array.from({ length: 3 }, () => ({ title: 'T', taskType: 'test' }));
    const key = { 'idempotency-key': newId() };
    const refused = await workspace.api.post('/agent-tasks/batch', { tasks }, key);
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'queue_full', depth: 1, limit: 3, wanted: 3 },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await submit();
    await submit();
    const body = { title: 'One more', taskType: 'test' };
    expect((await workspace.api.post('/agent-tasks', body, key)).status).toBe(429);
    const { rows } = await server.db.owner.query<{ count: number }>(
      'SELECT count(*)::int FROM agent_tasks WHERE workspace_id = $1',
      [workspace.id],
    );
    expect(rows[0]?.count).toBe(3);
    expect((await claim({ maxTasks: 2 })).tasks).toHaveLength(2);
    // The refusals did not consume the key.
    await waitFor('the queue to be counted again', async () => {
      const answer = await workspace.api.post('/agent-tasks', body, key);
      return answer.status === 201;
    });
  });

  it('limits hold against a hundred concurrent requests', async () => {
    await limit({ maxQueueDepth: 30 });
    const answers = await Promise.all(
      Array.from({ length: 100 }, () =>
        workspace.api.post('/agent-tasks', { title: 'T', taskType: 'test' }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(30);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(70);
  });

  it('tasks that are being written count when the queue is counted again', async () => {
    await limit({ maxQueueDepth: 5 });
    const depths = server.app.get(QueueDepths, { strict: false });
    let finish = (): void => undefined;
    const written = new Promise<void>((resolve) => (finish = resolve));
    let writing: Promise<void> = Promise.resolve();
    await new Promise<void>((begun) => {
      writing = depths.within(workspace.id, 4, () => {
        begun();
        return written;
      });
    });
    // The task is not in the table, so a count alone finds an empty queue.
    depths.forget(workspace.id);
    const two = () => depths.within(workspace.id, 2, () => Promise.resolve('let in'));
    await expect(two()).rejects.toMatchObject({
      code: 'queue_full',
      extras: { members: { depth: 4 } },
    });
    finish();
    await writing;
    depths.forget(workspace.id);
    expect(await two()).toBe('let in');
  });

  it('invalid requests take no place in the queue', async () => {
    await limit({ maxQueueDepth: 2 });
    const tasks = [1, 2].map((n) => ({
      title: 'T',
      taskType: 'test',
      ref: `${n}`,
      dependsOn: [{ ref: `${3 - n}` }],
    }));
    for (let i = 0; i < 5; i++) {
      const { body } = await workspace.api.post('/agent-tasks/batch', { tasks });
      expect(body).toMatchObject({ code: 'dependency_cycle' });
    }
    await submit();
    await submit();
  });

  it('a changed spawn rate has a full bucket, and an unchanged one keeps its own', async () => {
    const bucket = async (sql: string) => {
      const { rows } = await server.db.owner.query<{ tokens: number }>(sql, [workspace.id]);
      return rows[0]?.tokens;
    };
    const tokens = () => bucket('SELECT tokens FROM spawn_allowances WHERE workspace_id = $1');
    for (const before of [0, null, 9]) {
      await limit({ spawnsPerMinute: before });
      await limit({ spawnsPerMinute: 3 });
      expect(await tokens()).toBe(3);
    }
    await bucket('UPDATE spawn_allowances SET tokens = 1 WHERE workspace_id = $1');
    await limit({ spawnsPerMinute: 3, maxQueueDepth: 5 });
    expect(await tokens()).toBe(1);
  });

  it('a workspace spawns no more sessions a minute than its rate', async () => {
    await limit({ spawnsPerMinute: 2 });
    await workspace.api.put(`/agents/${newId()}`, {
      name: 'Pushed',
      mode: 'push',
      command: ['node'],
      maxConcurrentTasks: 9,
    });
    await heartbeat();
    const ids = new Set(await Promise.all(Array.from({ length: 5 }, () => submit())));
    const spawned = () => gateway.spawns.filter(({ taskId }) => ids.has(taskId)).length;
    await gateway.until(() => spawned() === 2);
    await server.db.owner.query(
      `UPDATE spawn_allowances SET filled_at = filled_at - interval '30 seconds' WHERE workspace_id = $1`,
      [workspace.id],
    );
    await gateway.until(() => spawned() === 3);
    const { rows } = await server.db.owner.query<{ tokens: number }>(
      'SELECT tokens FROM spawn_allowances WHERE workspace_id = $1',
      [workspace.id],
    );
    expect(rows[0]?.tokens).toBeLessThan(1);
  });
});
