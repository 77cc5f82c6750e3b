import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { StandInGateway } from '../../runs/sessions/testing/stand-in-gateway.js';

/**
 * Some work can begin only at a certain time or after a user's action. Until then it must not keep
 * the coordinator busy.
 */

const QUIET_MS = 1_500;
/**
 * Sessions that all workspaces together can spawn in a minute. Each test begins with a full bucket.
 */
const RATE_OF_ALL = 2;

let gateway: StandInGateway;
let server: TestApp;
let workspace: TestWorkspace;
let agentId: string;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  // Neither the schedule nor a search is due, so no cycle here starts because of them.
  const never = { COORDINATOR_CRON: '0 0 0 29 2 *', RECONCILE_INTERVAL_SECONDS: '86400' };
  server = await startTestApp({ ...gateway.env, ...never, SPAWNS_PER_MINUTE: `${RATE_OF_ALL}` });
});

beforeEach(async () => {
  await fillBucketOfAll(RATE_OF_ALL);
  workspace = await server.newWorkspace();
  agentId = newId();
  const agent = { name: 'Pushed', mode: 'push', command: ['node'], maxConcurrentTasks: 9 };
  expect((await workspace.api.put(`/agents/${agentId}`, agent)).status).toBe(201);
  await heartbeat();
});

/** Removes work that still waits, so the next test begins without it. */
afterEach(async () => {
  await sql(`UPDATE agents SET coordinator_enabled = false`);
});

afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

async function sql<T extends object>(text: string, ...values: unknown[]): Promise<T[]> {
  return (await server.db.owner.query<T>(text, values)).rows;
}

/** Does nothing before the first session, because there is no bucket yet. */
async function fillBucketOfAll(tokens: number): Promise<unknown[]> {
  const fill =
    'UPDATE installation_spawn_allowance SET tokens = $1, filled_at = now() RETURNING id';
  return sql(fill, tokens);
}

async function heartbeat(): Promise<void> {
  const headers = { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` };
  const { status } = await apiClient(server.url, headers).post('/gateway/heartbeat', {
    ...gateway.nextHeartbeat(),
    capacity: 100,
    running: gateway.sessions.size,
    queued: 0,
    sessions: [...gateway.sessions].map(([runId, { sessionKey }]) => ({
      runId,
      sessionKey,
      status: 'RUNNING',
    })),
  });
  expect(status).toBe(200);
}

async function submit(count = 1): Promise<void> {
  const tasks = Array.from({ length: count }, () => ({
    title: 'T',
    taskType: 'test',
    estimatedTokens: 1,
  }));
  expect((await workspace.api.post('/agent-tasks/batch', { tasks })).status).toBe(201);
}

async function pause(values: Record<string, unknown>): Promise<string> {
  const body = { reason: 'The licence server is down', ...values };
  const answer = await workspace.api.post<{ id: string }>('/pauses', body);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

async function limit(spawnsPerMinute: number): Promise<void> {
  await sql(`UPDATE users SET is_operator = true WHERE id = $1`, workspace.userId);
  const path = `/workspaces/${workspace.id}/limits`;
  const answer = await workspace.api.put(path, { maxQueueDepth: null, spawnsPerMinute });
  expect(answer.status).toBe(200);
}

/** A run of the last day whose usage the budgets of the workspace have consumed. */
async function use(tokens: number): Promise<void> {
  const taskId = await aTask(server.db.owner, workspace.id, { status: 'COMPLETED' });
  await sql(
    `WITH run AS (
       INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, state, lease_seconds,
         lease_expires_at, assigned_at, started_at, ended_at, end_reason)
       VALUES ($1, uuidv7(), $2, $3, 1, 'COMPLETED', 180, now(), now() - interval '20 hours',
         now() - interval '20 hours', now(), 'completed')
       RETURNING *),
     charged AS (UPDATE usage_budgets SET consumed = consumed + $4 WHERE workspace_id = $1)
     INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, model,
       input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, logged_at)
     SELECT workspace_id, id, 'r', task_id, agent_id, 'm', $4, 0, 0, 0, now() - interval '20 hours'
     FROM run`,
    workspace.id,
    taskId,
    agentId,
    tokens,
  );
}

/** A budget for thirty days, of which ten have passed. */
async function aBudget(allocated: number): Promise<string> {
  const [periodStart, periodEnd] = [-10, 20].map((days) =>
    new Date(Date.now() + days * 86_400_000).toISOString(),
  );
  const budget = { scope: 'global', allocated, periodStart, periodEnd };
  const answer = await workspace.api.post<{ id: string }>('/budgets', budget);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

const spawned = () => gateway.spawns.filter((one) => one.workspaceId === workspace.id).length;

async function cycles(): Promise<number> {
  const { body } = await workspace.api.get<{ cycleCount: number }>('/coordinator/status');
  return body.cycleCount;
}

/** Fails if the coordinator keeps running cycles. */
async function expectRest(): Promise<void> {
  let last = -1;
  let since = 0;
  await waitFor(
    'the coordinator to come to rest',
    async () => {
      const count = await cycles();
      if (count !== last) [last, since] = [count, performance.now()];
      return performance.now() - since > QUIET_MS;
    },
    15_000,
  );
}

it('the coordinator rests while nothing waits', () => expectRest());

it('the coordinator rests during a pause of a workspace, and not after it', async () => {
  const id = await pause({ scope: 'workspace' });
  await submit();
  await expectRest();
  await workspace.api.delete(`/pauses/${id}`);
  await gateway.until(() => spawned() === 1);
});

it('the coordinator rests while one of two pauses of a type has ended', async () => {
  const [one] = [
    await pause({ scope: 'task_type', taskType: 'test' }),
    await pause({ scope: 'task_type', taskType: 'test' }),
  ];
  await submit();
  await workspace.api.delete(`/pauses/${one}`);
  await expectRest();
  expect(spawned()).toBe(0);
});

it('the coordinator rests during a pause of a type, and not after it', async () => {
  const until = new Date(Date.now() + 8_000).toISOString();
  await pause({ scope: 'task_type', taskType: 'test', until });
  await submit();
  await expectRest();
  expect(spawned()).toBe(0);
  await gateway.until(() => spawned() === 1);
});

it('the coordinator rests until the rate of a workspace allows the next session', async () => {
  await limit(1);
  await submit(3);
  await gateway.until(() => spawned() === 1);
  await expectRest();
  expect(spawned()).toBe(1);
  await sql(`UPDATE spawn_allowances SET tokens = 0.95, filled_at = now()`);
  await gateway.until(() => spawned() === 2);
  await expectRest();
});

it('the coordinator rests while a workspace can spawn no session', async () => {
  await limit(0);
  await submit(2);
  await expectRest();
  expect(spawned()).toBe(0);
  await limit(1);
  await gateway.until(() => spawned() === 1);
  await expectRest();
});

it('the coordinator computes a throttle again when its budget is raised, and rests', async () => {
  const id = await aBudget(1_500);
  await use(300);
  const { body } = await workspace.api.post<{ counts: Record<string, number> }>(
    '/coordinator/recover',
    { workspaceId: workspace.id },
  );
  expect(body.counts['throttlesChanged']).toBe(1);
  await submit(2);
  await gateway.until(() => spawned() === 1);
  const raise = (allocated: number) => workspace.api.patch(`/budgets/${id}`, { allocated });
  expect((await raise(1_600)).status).toBe(200);
  await expectRest();
  expect(spawned()).toBe(1);
  await raise(1_000_000);
  await gateway.until(() => spawned() === 2);
  await expectRest();
});

it('the coordinator rests until the rate of all workspaces allows a session', async () => {
  expect(await fillBucketOfAll(0)).toHaveLength(1);
  await submit();
  await expectRest();
  expect(spawned()).toBe(0);
  await fillBucketOfAll(0.95);
  await gateway.until(() => spawned() === 1);
});

it('the coordinator rests while an agent is in a cooldown, and continues after it', async () => {
  await sql(
    `UPDATE agents SET resting_until = now() + interval '8 seconds', setup_failures = 1
      WHERE id = $1`,
    agentId,
  );
  await submit();
  await expectRest();
  expect(spawned()).toBe(0);
  await gateway.until(() => spawned() === 1);
});
