import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { StandInGateway } from './testing/stand-in-gateway.js';

let gateway: StandInGateway;
let server: TestApp;
let workspace: TestWorkspace;
let agentId: string;

const REGISTRATION = { name: 'Pushed', mode: 'push', command: ['node', 'session.js'] };

beforeAll(async () => {
  gateway = await StandInGateway.start();
  server = await startTestApp(gateway.env);
});

beforeEach(async () => {
  workspace = await server.newWorkspace();
  await asGateway().post('/gateway/heartbeat', {
    ...gateway.nextHeartbeat(),
    capacity: 100,
    running: 0,
    queued: 0,
    sessions: [],
  });
  agentId = newId();
  expect((await workspace.api.put(`/agents/${agentId}`, REGISTRATION)).status).toBe(201);
});

afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

const asGateway = () =>
  apiClient(server.url, { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` });

async function report(runId: string, values: Record<string, unknown>): Promise<void> {
  const { status } = await asGateway().post('/gateway/sessions', {
    gatewayId: gateway.id,
    bootId: gateway.bootId,
    reports: [{ runId, sessionKey: 'k', at: new Date().toISOString(), ...values }],
  });
  expect(status).toBe(200);
}

const cannotStart = (runId: string) =>
  report(runId, { event: 'failed', error: { class: 'setup', message: 'no such command' } });

async function aTask(): Promise<string> {
  const task = { title: 'A task', taskType: 'test', retryBackoffSeconds: 60 };
  return (await workspace.api.post<{ id: string }>('/agent-tasks', task)).body.id;
}

async function statusOf(taskId: string): Promise<unknown> {
  return (await workspace.api.get(`/agent-tasks/${taskId}`)).body['status'];
}

/** The run of a task, once it has a session. */
async function runOf(taskId: string): Promise<string> {
  return waitFor('its session', async () => {
    const { body } = await workspace.api.get(`/agent-tasks/${taskId}`);
    return body['status'] === 'RUNNING' && String(body['runId']);
  });
}

const recover = () => workspace.api.post('/coordinator/recover', {});

/** Failed starts of its command in a row, and the seconds left of its cooldown. */
async function readCooldown(): Promise<{ failures: number; seconds: number | null } | undefined> {
  const { rows } = await server.db.owner.query<{ failures: number; seconds: number | null }>(
    `SELECT setup_failures AS failures, round(extract(epoch FROM resting_until - now()))::int AS seconds
     FROM agents WHERE id = $1`,
    [agentId],
  );
  return rows[0];
}

describe('a push agent whose command cannot start', () => {
  it('a command that cannot start causes a cooldown, until its agent registers again', async () => {
    await cannotStart(await runOf(await aTask()));
    const { body: agent } = await workspace.api.get(`/agents/${agentId}`);
    expect(Date.parse(String(agent['restingUntil']))).toBeGreaterThan(Date.now());
    const waiting = await aTask();
    await recover();
    expect(await statusOf(waiting)).toBe('PENDING');
    const { body } = await workspace.api.get(`/agent-tasks/${waiting}/explain`);
    expect(body).toMatchObject({ reasons: [{ code: 'agents_resting' }] });

    const mended = { ...REGISTRATION, command: ['node', 'mended.js'] };
    const answer = await workspace.api.put(`/agents/${agentId}`, mended);
    expect(answer).toMatchObject({ status: 200, body: { restingUntil: null } });
    await recover();
    await runOf(waiting);
  });

  it('the cooldown grows with each failure, and ends when a session starts', async () => {
    for (const [failures, seconds] of [
      [1, 30],
      [2, 60],
      [3, 120],
    ] as const) {
      await cannotStart(await runOf(await aTask()));
      const now = await readCooldown();
      expect(now?.failures).toBe(failures);
      expect(now?.seconds).toBeGreaterThan(seconds * 0.8);
      expect(now?.seconds).toBeLessThanOrEqual(seconds);
      await server.db.owner.query(`UPDATE agents SET resting_until = now() WHERE id = $1`, [
        agentId,
      ]);
    }
    await report(await runOf(await aTask()), { event: 'started' });
    expect(await readCooldown()).toEqual({ failures: 0, seconds: null });
  });

  it('a repeated report of a failed start causes no further cooldown', async () => {
    const runId = await runOf(await aTask());
    await cannotStart(runId);
    await server.db.owner.query(`UPDATE agents SET resting_until = now() WHERE id = $1`, [agentId]);
    await cannotStart(runId);
    expect(await readCooldown()).toMatchObject({ failures: 1 });
  });

  it('concurrent failures cause one cooldown, and a failure of the task causes none', async () => {
    await workspace.api.put(`/agents/${agentId}`, { ...REGISTRATION, maxConcurrentTasks: 3 });
    const runs = await Promise.all([aTask(), aTask(), aTask()].map(async (id) => runOf(await id)));
    await report(String(runs[0]), { event: 'exited', exitCode: 1 });
    expect(await readCooldown()).toEqual({ failures: 0, seconds: null });
    for (const runId of runs.slice(1)) await cannotStart(runId);
    expect(await readCooldown()).toMatchObject({ failures: 1 });
  });
});
