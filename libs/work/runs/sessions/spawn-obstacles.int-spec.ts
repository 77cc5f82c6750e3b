import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { StandInGateway } from './testing/stand-in-gateway.js';

let gateway: StandInGateway;
let server: TestApp;
let workspace: TestWorkspace;
let taskId: string;

interface Explanation {
  reasons: { code: string; facts: Record<string, unknown> }[];
  estimate: { unknownBecause: string | null };
}

beforeAll(async () => {
  gateway = await StandInGateway.start();
  // Nothing is assigned, so tasks that would be assigned at once can still be explained.
  server = await startTestApp({
    ...gateway.env,
    ROLES: 'api',
    SPAWNS_PER_MINUTE: '60',
  });
});
beforeEach(async () => {
  await server.db.owner.query('DELETE FROM gateways');
  await server.db.owner.query('DELETE FROM installation_spawn_allowance');
  workspace = await server.newWorkspace();
  const agent = { name: 'Pushed', mode: 'push', command: ['node', 'session.js'] };
  expect((await workspace.api.put(`/agents/${newId()}`, agent)).status).toBe(201);
  const task = { title: 'A task', taskType: 'test' };
  taskId = (await workspace.api.post<{ id: string }>('/agent-tasks', task)).body.id;
});
afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

async function explain(): Promise<Explanation> {
  const { status, body } = await workspace.api.get<Explanation>(`/agent-tasks/${taskId}/explain`);
  expect(status).toBe(200);
  return body;
}

async function heartbeat(values: Record<string, unknown> = {}): Promise<void> {
  const headers = { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` };
  const { status } = await apiClient(server.url, headers).post('/gateway/heartbeat', {
    ...gateway.nextHeartbeat(),
    capacity: 5,
    running: 0,
    queued: 0,
    sessions: [],
    ...values,
  });
  expect(status).toBe(200);
}

describe('a task that only a push agent can take', () => {
  it('the explanation names the next cycle when nothing prevents the session', async () => {
    await heartbeat();
    expect((await explain()).reasons).toMatchObject([
      { code: 'waiting_for_assignment', facts: { count: 1 } },
    ]);
  });

  it('the explanation names a gateway that was never heard or is silent', async () => {
    const never = await explain();
    expect(never.reasons).toMatchObject([
      { code: 'gateway_unreachable', facts: { configured: true, lastSeenAt: null } },
    ]);
    expect(never.estimate.unknownBecause).toBe('no_agent');
    await heartbeat();
    await server.db.owner.query(`UPDATE gateways SET last_seen_at = now() - interval '1 hour'`);
    const [silent] = (await explain()).reasons;
    expect(silent?.code).toBe('gateway_unreachable');
    const age = Date.now() - Date.parse(String(silent?.facts['lastSeenAt']));
    expect(age).toBeGreaterThan(3_500_000);
  });

  it('the explanation names the missing room at the gateway', async () => {
    await heartbeat({ capacity: 0 });
    expect((await explain()).reasons).toMatchObject([
      { code: 'gateway_full', facts: { gateways: 1 } },
    ]);
  });

  it('the explanation names the exhausted rates and their end', async () => {
    await heartbeat();
    await server.db.owner.query(
      `WITH l AS (INSERT INTO workspace_limits (workspace_id, spawns_per_minute) VALUES ($1, 6)),
         o AS (INSERT INTO installation_spawn_allowance (id, tokens) VALUES (1, 0.5))
       INSERT INTO spawn_allowances (workspace_id, tokens) VALUES ($1, 0)`,
      [workspace.id],
    );
    const { reasons } = await explain();
    expect(reasons).toMatchObject([
      { code: 'spawn_rate_reached', facts: { scope: 'installation', perMinute: 60 } },
      { code: 'spawn_rate_reached', facts: { scope: 'workspace', perMinute: 6 } },
    ]);
    const [half, ten] = reasons.map(({ facts }) => Date.parse(String(facts['nextAt'])));
    // Half a token at 1 per second, and a whole one at 1 in 10 seconds.
    expect((ten ?? 0) - (half ?? 0)).toBeCloseTo(9_500, -2);
    await server.db.owner.query(
      `WITH o AS (UPDATE installation_spawn_allowance SET filled_at = now() - interval '1 s')
       UPDATE spawn_allowances SET filled_at = now() - interval '10 s' WHERE workspace_id = $1`,
      [workspace.id],
    );
    expect((await explain()).reasons).toMatchObject([{ code: 'waiting_for_assignment' }]);
  });

  it('the explanation names no end where the workspace can spawn no session', async () => {
    await heartbeat();
    await server.db.owner.query(
      'INSERT INTO workspace_limits (workspace_id, spawns_per_minute) VALUES ($1, 0)',
      [workspace.id],
    );
    const { reasons, estimate } = await explain();
    expect(reasons).toMatchObject([
      { code: 'spawn_rate_reached', facts: { scope: 'workspace', perMinute: 0, nextAt: null } },
    ]);
    expect(estimate.unknownBecause).toBe('spawn_rate');
  });
});

it('the explanation says that no gateway is configured', async () => {
  const alone = await startTestApp({ ROLES: 'api' });
  const { api } = await alone.newWorkspace();
  await api.put(`/agents/${newId()}`, { name: 'Pushed', mode: 'push', command: ['node'] });
  const { body } = await api.post<{ id: string }>('/agent-tasks', { title: 'T', taskType: 'test' });
  const answer = await api.get<Explanation>(`/agent-tasks/${body.id}/explain`);
  expect(answer.body.reasons).toMatchObject([
    { code: 'gateway_unreachable', facts: { configured: false } },
  ]);
  await alone.stop();
});

it('the explanation says that the gateway does not answer', async () => {
  const asked = await startTestApp({
    ...gateway.env,
    GATEWAY_TIMEOUT_MS: '100',
    SPAWN_ATTEMPTS: '3',
    COORDINATOR_LOCK_TTL_SECONDS: '3',
  });
  gateway.behaviour = { kind: 'hang' };
  const { api } = await asked.newWorkspace();
  const headers = { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` };
  await apiClient(asked.url, headers).post('/gateway/heartbeat', {
    ...gateway.nextHeartbeat(),
    capacity: 6,
    running: 0,
    queued: 0,
    sessions: [],
  });
  const agent = { name: 'Pushed', mode: 'push', command: ['node'], maxConcurrentTasks: 10 };
  await api.put(`/agents/${newId()}`, agent);
  const tasks = Array.from({ length: 9 }, () => ({ title: 'T', taskType: 'test' }));
  const made = await api.post<{ items: { id: string }[] }>('/agent-tasks/batch', { tasks });
  await waitFor('a task to wait for the gateway that does not answer', async () => {
    const ids = made.body.items.map(({ id }) => id);
    const path = (id: string) => `/agent-tasks/${id}/explain`;
    const answers = await Promise.all(ids.map((id) => api.get<Explanation>(path(id))));
    const reasons = answers.flatMap((answer) => answer.body.reasons);
    return reasons.some(
      ({ code, facts }) => code === 'gateway_unreachable' && facts['resting'] === true,
    );
  });
  await asked.stop();
});
