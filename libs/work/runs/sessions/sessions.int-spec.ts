import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { checkInvariants } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { StandInGateway } from './testing/stand-in-gateway.js';

let gateway: StandInGateway;
let server: TestApp;
let workspace: TestWorkspace;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  server = await startTestApp({
    ...gateway.env,
    GATEWAY_TIMEOUT_MS: '300',
    SPAWN_ATTEMPTS: '2',
    COORDINATOR_LOCK_TTL_SECONDS: '3',
  });
});
beforeEach(async () => {
  gateway.behaviour = { kind: 'spawn' };
  gateway.spawns.length = 0;
  workspace = await server.newWorkspace();
  // With a budget, each end of a session must release the run's hold: the invariants check it after
  // each test.
  const period = { periodStart: '2020-01-01T00:00:00Z', periodEnd: '2120-01-01T00:00:00Z' };
  await workspace.api.post('/budgets', { scope: 'global', allocated: 1e12, ...period });
  await heartbeat();
});
afterEach(async () => {
  const outcomes = await checkInvariants(server.db.database.service);
  const broken = outcomes.filter(({ holds }) => !holds);
  expect(broken).toEqual([]);
  // Waiting tasks of a test must not take the room of the next one.
  await server.db.owner.query(
    `UPDATE agents SET coordinator_enabled = false WHERE workspace_id = $1`,
    [workspace.id],
  );
});
afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

const asGateway = () =>
  apiClient(server.url, { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` });

function heartbeat(
  sessions: { runId: string; sessionKey: string; status: string }[] = [],
  values = {},
) {
  return asGateway().post<{ restarted: boolean; stop: { runId: string; reason: string }[] }>(
    '/gateway/heartbeat',
    {
      ...gateway.nextHeartbeat(),
      capacity: 100,
      running: 0,
      queued: 0,
      sessions,
      ...values,
    },
  );
}

async function aPushAgent(values: Record<string, unknown> = {}): Promise<string> {
  const id = newId();
  const wanted = { name: 'Pushed', mode: 'push', command: ['node', 'session.js'], ...values };
  expect((await workspace.api.put(`/agents/${id}`, wanted)).status).toBe(201);
  return id;
}

async function aTask(values: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await workspace.api.post<{ id: string }>('/agent-tasks', {
    title: 'A task with a title that is longer than the label may be',
    taskType: 'test',
    retryBackoffSeconds: 60,
    inputContext: { topic: 'sheep', apiToken: 'a secret value' },
    ...values,
  });
  expect(status).toBe(201);
  return body.id;
}

interface Task {
  status: string;
  runId: string;
  sessionKey: string | null;
  retryCount: number;
  abortReason: string | null;
  lastError: string | null;
  failureReason: string | null;
}

async function task(id: string): Promise<Task> {
  return (await workspace.api.get<Task>(`/agent-tasks/${id}`)).body;
}

async function taskIn(status: string, id: string): Promise<Task> {
  return waitFor(`the task to be ${status}`, async () => {
    const found = await task(id);
    return found.status === status ? found : undefined;
  });
}

const heldBy = (spawn: { runId: string }) => ({
  runId: spawn.runId,
  sessionKey: gateway.sessions.get(spawn.runId)?.sessionKey ?? '',
  status: 'RUNNING',
});

const reported = (report: Record<string, unknown>) =>
  asGateway().post<{ results: { applied: boolean; reason?: string }[] }>('/gateway/sessions', {
    gatewayId: gateway.id,
    bootId: gateway.bootId,
    reports: [{ sessionKey: 'k', at: new Date().toISOString(), ...report }],
  });

const wordsOf = async (taskId: string) => {
  const logs = await workspace.api.get<{ items: Record<string, unknown>[] }>(
    `/agent-tasks/${taskId}/logs`,
  );
  const words = logs.body.items.filter(({ event }) => event === 'session_output');
  return words.map(({ level, message, runId }) => ({ level, message, runId }));
};

describe('a ready task', () => {
  it('a ready task is spawned with its context, secrets, a model and a token', async () => {
    const metadata = { network: 'host', note: 'not for gateways' };
    const agentId = await aPushAgent({ capabilities: ['a', 'b'], metadata });
    const routing = { enabled: true, rules: [], tiers: { sonnet: 'gpt-5' } };
    await workspace.api.put('/model-routing', routing);
    const id = await aTask({ requiredCapabilities: ['a'], timeoutSeconds: 77 });
    const { runId, sessionKey } = await taskIn('RUNNING', id);
    expect(gateway.spawns).toHaveLength(1);
    const [spawn] = gateway.spawns;
    expect(spawn).toMatchObject({
      workspaceId: workspace.id,
      agentId,
      taskId: id,
      runId,
      generation: 1,
      label: `task:${id}:A task with a title that is lo`,
      context: {
        taskTitle: 'A task with a title that is longer than the label may be',
        inputContext: { topic: 'sheep', apiToken: 'a secret value' },
        checkpointData: {},
      },
      command: ['node', 'session.js'],
      timeoutSeconds: 77,
      metadata: { network: 'none', model: 'gpt-5', modelTier: 'sonnet' },
    });
    expect(spawn?.metadata).not.toHaveProperty('note');
    expect(sessionKey).toBe(gateway.sessions.get(runId)?.sessionKey);
    const session = apiClient(server.url, { authorization: `Bearer ${spawn?.runToken}` });
    const done = await session.post(`/runs/${runId}/complete`, { outputResult: { n: 1 } });
    expect(done).toMatchObject({ status: 200, body: { status: 'COMPLETED' } });
    // The following exit adds nothing but the session's output, and a repeated exit adds nothing.
    for (let round = 0; round < 2; round++) {
      const output = 'counted with a secret value';
      const exit = await reported({ runId, event: 'exited', exitCode: 0, output });
      expect(exit.body.results).toEqual([expect.objectContaining({ applied: false })]);
    }
    expect(await wordsOf(id)).toEqual([
      { level: 'INFO', message: 'counted with [redacted]', runId },
    ]);
  });

  it('a session gets the limits of its agent, and the lists of allowed hosts of all levels', async () => {
    const change = { network: 'allow', allowedHosts: ['*.example.com'] };
    expect((await workspace.api.patch(`/workspaces/${workspace.id}`, change)).status).toBe(200);
    const { body: project } = await workspace.api.post<{ id: string }>('/projects', { name: 'P' });
    const ofProject = { network: 'allow', allowedHosts: ['a.example.com', 'b.example.com'] };
    expect((await workspace.api.patch(`/projects/${project.id}`, ofProject)).status).toBe(200);
    const metadata = { ...change, allowedHosts: ['a.example.com:*'], limits: { memoryMb: 512 } };
    await aPushAgent({ metadata, maxConcurrentTasks: 3 });
    const spawnOf = async (values: Record<string, unknown>) => {
      const { runId } = await taskIn('RUNNING', await aTask(values));
      return gateway.spawns.find((spawn) => spawn.runId === runId)?.metadata;
    };
    const ofTask = { network: 'allow', allowedHosts: ['a.example.com'] };
    const [above, agents] = [change.allowedHosts, metadata.allowedHosts];
    expect(await spawnOf({ projectId: project.id, inputContext: ofTask })).toMatchObject({
      network: 'allow',
      allowedHosts: [above, ofProject.allowedHosts, ofTask.allowedHosts, agents],
      limits: metadata.limits,
    });
    expect(await spawnOf({ inputContext: { network: 'host' } })).toMatchObject({
      network: 'allow',
      allowedHosts: [above, agents],
    });
    const none = await spawnOf({ inputContext: { network: 'none', allowedHosts: ['a.b'] } });
    expect(none).toMatchObject({ network: 'none' });
    expect(none).not.toHaveProperty('allowedHosts');
  });

  it('a ready task waits for a pull agent when no push agent can take it', async () => {
    await aPushAgent({ capabilities: ['a'], model: 'gpt-5-mini' });
    const other = await aTask({ requiredCapabilities: ['b'] });
    const fitting = await aTask({ requiredCapabilities: ['a'] });
    await taskIn('RUNNING', fitting);
    expect(gateway.spawns[0]?.metadata).toEqual({ model: 'gpt-5-mini', modelTier: 'haiku' });
    expect((await task(other)).status).toBe('PENDING');
  });

  it('an agent is filled up to its limit, again after each session', async () => {
    await aPushAgent({ maxConcurrentTasks: 2 });
    const ids = await Promise.all([1, 2, 3].map(() => aTask()));
    await gateway.until(() => gateway.spawns.length === 2);
    const statuses = async () => (await Promise.all(ids.map(task))).map((one) => one.status).sort();
    await waitFor(
      'two to run',
      async () => (await statuses()).join() === 'PENDING,RUNNING,RUNNING' || undefined,
    );
    const [first] = gateway.spawns;
    await reported({ runId: first?.runId, event: 'exited', exitCode: 3, output: 'boom' });
    await gateway.until(() => gateway.spawns.length === 3);
    expect((await statuses()).filter((status) => status === 'ABORTED')).toHaveLength(1);
    const words = await wordsOf(first?.taskId ?? '');
    expect(words).toEqual([{ level: 'WARN', message: 'boom', runId: first?.runId }]);
  });

  it('every workspace is served when the gateway has little room', async () => {
    const full = workspace;
    await aPushAgent({ maxConcurrentTasks: 50 });
    await heartbeat([], { capacity: 0 });
    await Promise.all(Array.from({ length: 10 }, () => aTask()));
    workspace = await server.newWorkspace();
    await aPushAgent({ maxConcurrentTasks: 50 });
    await aTask();
    const { rows } = await server.db.owner.query<{ runs: number }>(
      `SELECT coalesce(sum(live_runs), 0)::int AS runs FROM agents WHERE mode = 'push'`,
    );
    await heartbeat([], { capacity: (rows[0]?.runs ?? 0) + 2 });
    await gateway.until(() => gateway.spawns.length === 2);
    expect(new Set(gateway.spawns.map((spawn) => spawn.workspaceId))).toEqual(
      new Set([full.id, workspace.id]),
    );
    await server.db.owner.query(`UPDATE agents SET coordinator_enabled = false`);
  });
});

describe('a failed spawn', () => {
  it('a spawn with a lost answer is retried, and the gateway recognizes the run', async () => {
    await aPushAgent();
    gateway.behaviour = { kind: 'spawn_and_hang' };
    const id = await aTask();
    await gateway.until(() => gateway.spawns.length === 1);
    gateway.behaviour = { kind: 'spawn' };
    const { runId, sessionKey } = await taskIn('RUNNING', id);
    expect(gateway.spawns.map((spawn) => spawn.runId)).toEqual([runId, runId]);
    expect(sessionKey).toBe(gateway.sessions.get(runId)?.sessionKey);
  });

  it('a spawn without an answer aborts the task for a retry', async () => {
    await aPushAgent();
    gateway.behaviour = { kind: 'hang' };
    const id = await aTask();
    const aborted = await taskIn('ABORTED', id);
    expect(aborted).toMatchObject({ abortReason: 'spawn_failed', retryCount: 1 });
    expect(aborted.lastError).toMatch(/^No session after 2 attempts/);
    expect(gateway.spawns).toHaveLength(2);
  });

  it('a spawn whose attempts never finish aborts the task', async () => {
    await aPushAgent();
    gateway.behaviour = { kind: 'refuse', status: 429, code: 'resource_exhausted', retryAfter: 15 };
    const id = await aTask();
    await gateway.until(() => gateway.spawns.length === 1);
    gateway.behaviour = { kind: 'spawn' };
    await waitFor('the intent to wait', async () => {
      const { rowCount } = await server.db.owner.query(
        `UPDATE session_spawns SET attempts = 99, created_at = now() - interval '1 hour',
           next_attempt_at = now() WHERE task_id = $1 AND locked_until IS NULL`,
        [id],
      );
      return rowCount === 1;
    });
    const aborted = await taskIn('ABORTED', id);
    expect(aborted).toMatchObject({ abortReason: 'spawn_failed', retryCount: 1 });
    expect(aborted.lastError).toMatch(/^No session after 99 attempts, the last of which broke off/);
    expect(gateway.spawns).toHaveLength(1);
  });

  it('a spawn answer without proof counts as no answer', async () => {
    await aPushAgent();
    gateway.behaviour = { kind: 'unproven' };
    const id = await aTask();
    expect((await taskIn('ABORTED', id)).lastError).toContain('no proof');
  });

  it('a refused spawn fails the task without a retry', async () => {
    await aPushAgent();
    gateway.behaviour = { kind: 'refuse', status: 422, code: 'command_not_allowed' };
    const id = await aTask();
    const failed = await taskIn('FAILED', id);
    expect(failed.failureReason).toBe('spawn_failed');
    expect(failed.lastError).toContain('command_not_allowed');
  });

  it('a spawn waits as long as a full gateway asks', async () => {
    await aPushAgent();
    gateway.behaviour = { kind: 'refuse', status: 429, code: 'resource_exhausted', retryAfter: 1 };
    const id = await aTask();
    await gateway.until(() => gateway.spawns.length === 1);
    gateway.behaviour = { kind: 'spawn' };
    await taskIn('RUNNING', id);
    expect(gateway.spawns).toHaveLength(2);
  });

  it('a queued session starts when the gateway reports its start', async () => {
    await aPushAgent();
    gateway.behaviour = { kind: 'spawn', status: 'QUEUED' };
    const id = await aTask();
    await gateway.until(() => gateway.sessions.size > 0 && gateway.spawns.length === 1);
    const { runId } = gateway.spawns[0] as { runId: string };
    expect((await task(id)).status).toBe('ASSIGNED');
    const started = await reported({ runId, sessionKey: 'the key', event: 'started' });
    expect(started.body.results).toEqual([{ runId, applied: true }]);
    expect(await task(id)).toMatchObject({ status: 'RUNNING', sessionKey: 'the key' });
  });
});

describe('a report of a gateway', () => {
  async function aRunningTask(values: Record<string, unknown> = {}) {
    await aPushAgent();
    const id = await aTask(values);
    await taskIn('RUNNING', id);
    const spawn = gateway.spawns.at(-1) as { runId: string; runToken: string };
    return { id, spawn };
  }

  it.each([
    [{ exitCode: 137 }, 'oom'],
    [{ exitCode: 1, oomKilled: true }, 'oom'],
    [{ exitCode: 143 }, 'timeout'],
    [{ exitCode: 1 }, 'exit_code'],
    [{ exitCode: 0 }, 'exit_code'],
    [{ signal: 'SIGKILL' }, 'signal'],
    [{ exitCode: -1 }, 'infrastructure'],
    [
      { event: 'failed', error: { class: 'resource_exhausted', message: 'No room' } },
      'infrastructure',
    ],
  ])('a session with %j fails its run as %s', async (report, reason) => {
    const { id, spawn } = await aRunningTask();
    const answer = await reported({ runId: spawn.runId, event: 'exited', ...report });
    expect(answer.body.results).toEqual([{ runId: spawn.runId, applied: true }]);
    expect(await task(id)).toMatchObject({ status: 'ABORTED', abortReason: reason, retryCount: 1 });
    // A repeated report counts once.
    const again = await reported({ runId: spawn.runId, event: 'exited', ...report });
    expect([again.status, (await task(id)).retryCount]).toEqual([200, 1]);
  });

  it('a session that cannot be set up is not retried', async () => {
    const { id, spawn } = await aRunningTask();
    const error = { class: 'setup', message: 'no such command' };
    await reported({ runId: spawn.runId, event: 'failed', error });
    expect(await task(id)).toMatchObject({ status: 'FAILED', failureReason: 'setup' });
  });

  it('a gateway hears within its long poll that a session must stop', async () => {
    const { id, spawn } = await aRunningTask();
    const body = { gatewayId: gateway.id, runIds: [spawn.runId], waitMs: 20_000 };
    const news = asGateway().post<{ runs: unknown[] }>('/gateway/signals', body);
    await workspace.api.post(`/agent-tasks/${id}/cancel`, {});
    expect((await news).body.runs).toMatchObject([
      { runId: spawn.runId, action: 'stop', reason: 'cancelled' },
    ]);
    // Each heartbeat tells it again, if that answer was lost.
    expect((await heartbeat([heldBy(spawn)])).body.stop).toMatchObject([{ runId: spawn.runId }]);
  });

  it('a gateway hears within its long poll that a budget is nearly used up', async () => {
    const { id, spawn } = await aRunningTask();
    const period = { periodStart: '2020-01-01T00:00:00Z', periodEnd: '2999-01-01T00:00:00Z' };
    const budget = { scope: 'task', scopeId: id, allocated: 100, ...period };
    expect((await workspace.api.post('/budgets', budget)).status).toBe(201);
    const body = { gatewayId: gateway.id, runIds: [spawn.runId], waitMs: 20_000 };
    const news = asGateway().post<{ runs: unknown[] }>('/gateway/signals', body);
    const session = apiClient(server.url, { authorization: `Bearer ${spawn.runToken}` });
    const report = { id: 'one', model: 'claude-sonnet-4', inputTokens: 91, outputTokens: 0 };
    await session.post(`/runs/${spawn.runId}/usage`, { reports: [report] });
    expect((await news).body.runs).toMatchObject([
      { runId: spawn.runId, action: 'warn', reason: 'budget' },
    ]);
    expect((await heartbeat([heldBy(spawn)])).body.stop).toEqual([]);
  });

  it('a gateway is asked to stop a session of an unknown run', async () => {
    const unknown = randomUUID();
    const { body } = await heartbeat([{ runId: unknown, sessionKey: 'k', status: 'RUNNING' }]);
    expect(body.stop).toMatchObject([{ runId: unknown, reason: 'unknown_run' }]);
  });

  it("a gateway's heartbeats keep the agents of its sessions alive", async () => {
    const idle = await aPushAgent();
    const { spawn } = await aRunningTask();
    await server.db.owner.query(
      `UPDATE agent_heartbeats SET last_seen_at = now() - interval '170 seconds',
         next_expected_at = now() - interval '140 seconds' WHERE workspace_id = $1`,
      [workspace.id],
    );
    await heartbeat([heldBy(spawn)]);
    const { rows } = await server.db.owner.query<{ id: string; age: number }>(
      `SELECT agent_id AS id, extract(epoch FROM now() - last_seen_at)::float8 AS age
       FROM agent_heartbeats WHERE workspace_id = $1`,
      [workspace.id],
    );
    const ages = new Map(rows.map(({ id, age }) => [id, age]));
    expect([...ages.values()].filter((age) => age < 100)).toHaveLength(1);
    expect(ages.get(idle)).toBeDefined();
  });

  it('runs that a restarted gateway lost continue from the last checkpoint', async () => {
    const { id, spawn } = await aRunningTask();
    const kept = await aRunningTask();
    const session = apiClient(server.url, { authorization: `Bearer ${spawn.runToken}` });
    await session.put(`/runs/${spawn.runId}/checkpoint`, { checkpointData: { at: 7 } });
    gateway.restart();
    const { body } = await heartbeat([heldBy(kept.spawn)]);
    expect(body).toMatchObject({ restarted: true, stop: [] });
    expect(await task(id)).toMatchObject({ status: 'ABORTED', abortReason: 'gateway_restart' });
    expect((await task(kept.id)).status).toBe('RUNNING');
    await workspace.api.post(`/agent-tasks/${id}/retry`, {});
    await taskIn('RUNNING', id);
    const resumed = gateway.spawns.at(-1);
    expect(resumed).toMatchObject({ taskId: id, context: { checkpointData: { at: 7 } } });
    expect((await heartbeat([heldBy(kept.spawn)])).body.restarted).toBe(false);
  });

  it('a session whose task continues in another one must stop, and that is logged', async () => {
    const { id, spawn } = await aRunningTask();
    gateway.restart();
    await heartbeat();
    await workspace.api.post(`/agent-tasks/${id}/retry`, {});
    await taskIn('RUNNING', id);
    const next = gateway.spawns.at(-1) as { runId: string };
    const { body } = await heartbeat([heldBy(spawn), heldBy(next)]);
    expect(body.stop).toMatchObject([{ runId: spawn.runId, reason: 'gateway_restart' }]);
    const [conflict] = await waitFor('the conflict in the log', async () => {
      const path = `/agent-tasks/${id}/logs?event=split_brain_conflict`;
      const logs = await workspace.api.get<{ items: { details: unknown }[] }>(path);
      return logs.body.items.length > 0 && logs.body.items;
    });
    expect(conflict?.details).toMatchObject({ runId: spawn.runId, newerRunId: next.runId });
  });

  it('agents that were taken for dead with their gateway return with it', async () => {
    const id = await aPushAgent();
    await server.db.owner.query(
      `UPDATE agents SET lifecycle = 'ERROR', error_at = now() WHERE id = $1`,
      [id],
    );
    await heartbeat();
    expect((await workspace.api.get(`/agents/${id}`)).body).toMatchObject({ status: 'IDLE' });
  });
});

describe('a caller that is not the gateway', () => {
  const madeIn = (seconds: number) => {
    const iat = Math.floor(Date.now() / 1000) + seconds;
    return { iat, exp: iat + 60 };
  };

  it.each<[string, () => string | undefined]>([
    ['no token', () => undefined],
    ['a user', () => 'x'],
    ['another secret', () => gateway.token({}, 'another secret that is long enough too')],
    ['the server’s own kind', () => gateway.token({ iss: 'drover-server', aud: 'drover-gateway' })],
    ['no type', () => gateway.token({ typ: undefined })],
    ['an old one', () => gateway.token({ exp: Math.floor(Date.now() / 1000) - 60 })],
    ['one whose clock is ahead', () => gateway.token(madeIn(45))],
    ['one whose clock is behind', () => gateway.token(madeIn(-45))],
    ['one for too long', () => gateway.token({ iat: 1, exp: Math.floor(Date.now() / 1000) + 999 })],
  ])("a request to the gateway's endpoints is refused: %s", async (_, token) => {
    const value = token();
    const headers: Record<string, string> = value ? { authorization: `Bearer ${value}` } : {};
    const answer = await apiClient(server.url, {}).post('/gateway/heartbeat', {}, headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('a gateway cannot act as another gateway', async () => {
    const other = apiClient(server.url, {
      authorization: `Bearer ${gateway.token({ sub: 'other' })}`,
    });
    const body = { gatewayId: gateway.id, runIds: [] };
    expect((await other.post('/gateway/signals', body)).status).toBe(403);
  });
});
