import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../test/support/app.js';
import { aProject } from '../../../test/support/factories.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { StandInGateway } from '../../../libs/work/runs/sessions/testing/stand-in-gateway.js';
import { apiClient } from '../../../test/support/api-client.js';
import { Coordinator } from '#lib/coordinator';
import { newId } from '#lib/kernel';
import { ValkeyClient } from '#lib/valkey';

const TOKEN = 'a token of the tests';
const SECRET = 'wintergreen-4711';

let gateway: StandInGateway;
let server: TestApp;
let workspace: TestWorkspace;
let agent: TestAgent;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  const env = { ...gateway.env, METRICS_TOKEN: TOKEN, ROLES: 'api,coordinator' };
  server = await startTestApp(env);
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent();
});
afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

const ask = (authorization?: string, url = server.url) =>
  fetch(`${url}/metrics`, { headers: authorization === undefined ? {} : { authorization } });

async function scrape(): Promise<string> {
  const response = await ask(`Bearer ${TOKEN}`);
  expect(response.status).toBe(200);
  return response.text();
}

/** The value of a series. Undefined if it is missing. */
function valueOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

const requests = (text: string, method: string, route: string, status: number) =>
  valueOf(
    text,
    `drover_http_request_seconds_count{method="${method}",route="${route}",status="${status}"}`,
  ) ?? 0;

/** A webhook with a delivery that has been due for a minute. */
async function webhookThatWaits(app: TestApp, workspaceId: string, id: string, failures = 0) {
  await app.db.owner.query(
    `INSERT INTO webhooks (workspace_id, id, url, events, due_at, failures)
     VALUES ($1, $2, 'https://example.com', '{*}', now() - interval '1 minute', $3)`,
    [workspaceId, id, failures],
  );
  await app.db.owner.query(
    `INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, event, payload, occurred_at)
     VALUES ($1, $2, 1, 'task.created', '{}', now())`,
    [workspaceId, id],
  );
}

describe('GET /metrics', () => {
  it('only the token reads the metrics', async () => {
    for (const [header, status] of [
      [undefined, 401],
      ['Bearer another', 401],
      [`Basic ${TOKEN}`, 401],
      ['Bearer ', 401],
      [`bearer ${TOKEN}`, 200],
    ] as const) {
      expect([header, (await ask(header)).status]).toEqual([header, status]);
    }
    expect((await ask(`Bearer ${agent.token}`)).status).toBe(401);
  });

  it('without a configured token the metrics do not exist', async () => {
    const closed = await startTestApp({ ROLES: 'api' });
    expect((await ask(`Bearer ${TOKEN}`, closed.url)).status).toBe(404);
    expect((await ask('Bearer undefined', closed.url)).status).toBe(404);
    await closed.stop();
  });

  it("the metrics are in Prometheus' text format", async () => {
    const response = await ask(`Bearer ${TOKEN}`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const lines = (await response.text()).split('\n').filter((line) => line !== '');
    const series = /^[a-z_]\w*(\{[a-z_]\w*="[^"\\\n]*"(,[a-z_]\w*="[^"\\\n]*")*\})? \S+$/i;
    const odd = lines.filter((line) => !line.startsWith('# ') && !series.test(line));
    expect(odd).toEqual([]);
    const types = lines.filter((line) => line.startsWith('# TYPE ')).map((l) => l.split(' ')[2]);
    expect(new Set(types).size).toBe(types.length);
    expect(types).toEqual(
      expect.arrayContaining(['nodejs_eventloop_lag_seconds', 'drover_http_request_seconds']),
    );
  });

  it('requests are counted by route template and status, hot routes too', async () => {
    const heartbeat = '/api/v1/agents/:id/heartbeat';
    const create = '/api/v1/agent-tasks';
    const before = await scrape();
    await agent.api.post(`/agents/${agent.id}/heartbeat`, { status: 'healthy' });
    await agent.api.post(`/agents/${newId()}/heartbeat`, { status: 'healthy' });
    await workspace.api.post('/agent-tasks', { title: 'x', taskType: 't' });
    await workspace.api.post('/agent-tasks', { title: 'x' });
    await workspace.api.get(`/agent-tasks/${newId()}`);
    await workspace.api.get(`/nowhere/${newId()}`);
    const headers = { 'content-type': 'application/json' };
    await fetch(`${server.url}${create}`, { method: 'POST', headers, body: '{' });
    const text = await waitFor('the last request to be counted', async () => {
      const now = await scrape();
      return requests(now, 'GET', 'unmatched', 404) > 0 ? now : undefined;
    });
    const more = (method: string, route: string, status: number) =>
      requests(text, method, route, status) - requests(before, method, route, status);
    expect(more('POST', heartbeat, 200)).toBe(1);
    expect(more('POST', heartbeat, 404)).toBe(1);
    expect(more('POST', create, 201)).toBe(1);
    expect(more('POST', create, 400)).toBe(2);
    expect(more('GET', '/api/v1/agent-tasks/:id', 404)).toBe(1);
    expect(more('GET', 'unmatched', 404)).toBe(1);
  });

  it('installation counts are read at most every 10 s', async () => {
    const held = { title: 'x', taskType: 't', inputContext: { token: SECRET } };
    const fresh = await startTestApp({ METRICS_TOKEN: TOKEN, ROLES: 'api' });
    const tenant = await fresh.newWorkspace();
    const worker = await tenant.newAgent();
    const task = async () => tenant.api.post<{ id: string }>('/agent-tasks', held);
    const { body: first } = await task();
    await tenant.api.post('/agent-tasks', { ...held, dependsOn: [first.id] });
    await worker.api.post(`/agents/${worker.id}/claim`, {});
    await fresh.db.owner.query(`INSERT INTO event_consumers (name) VALUES ('slow')`);
    await webhookThatWaits(fresh, tenant.id, newId());
    await webhookThatWaits(fresh, tenant.id, newId(), 3);
    await tenant.api.post('/pauses', { scope: 'task_type', taskType: 'x', reason: 'a test' });
    const stop = { scope: 'task_type', taskType: 'y', reason: 'a test', endRuns: true };
    for (let n = 0; n < 2; n++) await tenant.api.post('/pauses', stop);
    const read = async () => (await ask(`Bearer ${TOKEN}`, fresh.url)).text();
    const text = await read();
    const values = Object.fromEntries(
      [
        'drover_tasks{state="ready"}',
        'drover_tasks{state="blocked"}',
        'drover_tasks{state="assigned"}',
        'drover_runs{state="ASSIGNED"}',
        'drover_runs{state="STALE"}',
        'drover_agents{status="WORKING"}',
        'drover_outbox_unpublished_events{consumer="channels"}',
        'drover_outbox_unpublished_events{consumer="usage"}',
        'drover_webhook_deliveries_waiting{webhook="healthy"}',
        'drover_webhook_deliveries_waiting{webhook="failing"}',
        'drover_webhook_deliveries_waiting{webhook="disabled"}',
        'drover_sealed_tasks{key="current"}',
        'drover_sealed_tasks{key="older"}',
        'drover_pauses{scope="task_type",ends_runs="false"}',
        'drover_pauses{scope="task_type",ends_runs="true"}',
        'drover_pauses{scope="everything",ends_runs="true"}',
        'drover_coordinator_leader',
        'drover_claims_waiting',
        'drover_database_waiting{pool="app"}',
      ].map((series) => [series, valueOf(text, series)]),
    );
    expect(values).toEqual({
      'drover_tasks{state="ready"}': 0,
      'drover_tasks{state="blocked"}': 1,
      'drover_tasks{state="assigned"}': 1,
      'drover_runs{state="ASSIGNED"}': 1,
      'drover_runs{state="STALE"}': 0,
      'drover_agents{status="WORKING"}': 1,
      'drover_outbox_unpublished_events{consumer="channels"}': expect.any(Number),
      'drover_outbox_unpublished_events{consumer="usage"}': 0,
      'drover_webhook_deliveries_waiting{webhook="healthy"}': 1,
      'drover_webhook_deliveries_waiting{webhook="failing"}': 1,
      'drover_webhook_deliveries_waiting{webhook="disabled"}': 0,
      'drover_sealed_tasks{key="current"}': 2,
      'drover_sealed_tasks{key="older"}': 0,
      'drover_pauses{scope="task_type",ends_runs="false"}': 1,
      'drover_pauses{scope="task_type",ends_runs="true"}': 2,
      'drover_pauses{scope="everything",ends_runs="true"}': 0,
      drover_coordinator_leader: 0,
      drover_claims_waiting: 0,
      'drover_database_waiting{pool="app"}': 0,
    });
    expect(values['drover_outbox_unpublished_events{consumer="channels"}']).toBeGreaterThan(2);
    for (const consumer of ['channels', 'slow']) {
      const lag = valueOf(text, `drover_outbox_lag_seconds{consumer="${consumer}"}`);
      expect([consumer, lag]).toEqual([consumer, expect.any(Number)]);
      expect(lag).toBeGreaterThan(0);
    }
    for (const webhook of ['healthy', 'failing']) {
      const late = valueOf(text, `drover_webhook_lag_seconds{webhook="${webhook}"}`);
      expect(late).toBeGreaterThanOrEqual(60);
    }
    await fresh.db.owner.query(`DELETE FROM event_consumers WHERE name = 'slow'`);
    await task();
    expect(valueOf(await read(), 'drover_tasks{state="ready"}')).toBe(0);
    await fresh.stop();
  });

  it("the coordinator's cycles, steps, moves and recoveries are counted", async () => {
    const name = 'drover_recoveries_total{reason="exit_code"}';
    const before = valueOf(await scrape(), name) ?? 0;
    await workspace.api.post('/agent-tasks', { title: 'x', taskType: 't' });
    const { body } = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
      `/agents/${agent.id}/claim`,
      {},
    );
    const error = { message: 'no', class: 'exit_code' };
    await agent.api.post(`/runs/${body.tasks[0]?.run.id}/fail`, { error });
    expect(server.app.get(Coordinator, { strict: false })).toBeDefined();
    const text = await waitFor('a cycle', async () => {
      const now = await scrape();
      return (valueOf(now, 'drover_coordinator_cycle_seconds_count') ?? 0) > 0 ? now : undefined;
    });
    expect(valueOf(text, name)).toBe(before + 1);
    expect(valueOf(text, 'drover_coordinator_leader')).toBe(1);
    const step = 'drover_coordinator_step_seconds_count{step="expire_leases"}';
    expect(valueOf(text, step)).toBeGreaterThan(0);
    expect(
      valueOf(text, 'drover_coordinator_rows_moved_total{step="expire_leases"}'),
    ).toBeDefined();
  });

  it('failed tasks are counted by reason, from zero for exhausted retries', async () => {
    const exhausted = 'drover_tasks_failed_total{reason="retries_exhausted"}';
    const before = valueOf(await scrape(), exhausted) ?? NaN;
    const wanted = { title: 'x', taskType: 't', maxRetries: 0 };
    const { body: task } = await workspace.api.post<{ id: string }>('/agent-tasks', wanted);
    const { body } = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
      `/agents/${agent.id}/claim`,
      { taskId: task.id },
    );
    await agent.api.post(`/runs/${body.tasks[0]?.run.id}/fail`, {
      error: { message: 'no', class: 'exit_code' },
    });
    expect(valueOf(await scrape(), exhausted)).toBe(before + 1);
  });

  it('the wait of tasks for an agent is measured from the moment they could run', async () => {
    const counted = (text: string, le: string) =>
      valueOf(text, `drover_dispatch_seconds_bucket{le="${le}"}`) ?? NaN;
    const { body: task } = await workspace.api.post<{ id: string }>('/agent-tasks', {
      title: 'x',
      taskType: 't',
    });
    await server.db.owner.query(
      `UPDATE agent_tasks SET ready_at = now() - interval '100 seconds' WHERE id = $1`,
      [task.id],
    );
    const before = await scrape();
    await agent.api.post(`/agents/${agent.id}/claim`, { taskId: task.id });
    const after = await scrape();
    const more = ['60', '300'].map((le) => counted(after, le) - counted(before, le));
    expect(more).toEqual([0, 1]);
  });

  it('budgets in their period are counted by usage, and scopes by the end of their limit', async () => {
    const fresh = await startTestApp({ METRICS_TOKEN: TOKEN, ROLES: 'api' });
    const tenant = await fresh.newWorkspace();
    const day = 86_400_000;
    const budget = (periodStart: number, scope: object = { scope: 'global' }) =>
      tenant.api.post('/budgets', {
        ...scope,
        allocated: 100,
        policy: 'finish',
        periodStart: new Date(periodStart).toISOString(),
        periodEnd: new Date(periodStart + day).toISOString(),
      });
    expect((await budget(Date.now() - 1_000)).status).toBe(201);
    expect((await budget(Date.now() + 2 * day)).status).toBe(201);
    const projectId = await aProject(fresh.db.owner, tenant.id);
    const project = { scope: 'project', scopeId: projectId };
    expect((await budget(Date.now() - 2 * day, project)).status).toBe(201);
    // The second budget begins a day after the end of the first one.
    await fresh.db.owner.query(
      `UPDATE usage_budgets SET consumed = 80, period_start = period_start - interval '1 day',
         period_end = period_end - interval '23 hours'`,
    );
    const text = await (await ask(`Bearer ${TOKEN}`, fresh.url)).text();
    const shown = ['below_75', 'from_75', 'from_90', 'all'].map((used) =>
      valueOf(text, `drover_budgets{used="${used}"}`),
    );
    expect(shown).toEqual([0, 1, 0, 0]);
    await fresh.stop();
    const ends = ['ends_soon', 'ended'].map((limit) => `drover_budget_scopes{limit="${limit}"}`);
    expect(ends.map((name) => valueOf(text, name))).toEqual([1, 1]);
  });

  it('some metrics have aliases', async () => {
    await waitFor('a cycle', async () => {
      return (valueOf(await scrape(), 'coordinator_cycle_duration_ms') ?? 0) > 0;
    });
    const text = await scrape();
    const last = valueOf(text, 'drover_coordinator_last_cycle_seconds') ?? NaN;
    expect(valueOf(text, 'coordinator_cycle_duration_ms')).toBeCloseTo(last * 1_000);
    for (const [plain, ours] of [
      ['tasks_pending_count', 'drover_tasks{state="ready"}'],
      ['tasks_retry_exhausted_count', 'drover_tasks_failed_total{reason="retries_exhausted"}'],
      ['agents_spawned_count', 'drover_sessions_spawned_total'],
      ['valkey_connection_errors', 'drover_valkey_connection_errors_total'],
    ] as const) {
      expect([plain, valueOf(text, plain)]).toEqual([plain, valueOf(text, ours)]);
    }
    expect(valueOf(text, 'tasks_failed_count')).toBeGreaterThan(0);
    expect(valueOf(text, 'coordinator_stale_agents_count')).toBeDefined();
  });

  it('sessions that a gateway accepted are counted', async () => {
    const name = 'drover_sessions_spawned_total';
    const before = valueOf(await scrape(), name) ?? NaN;
    const headers = { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` };
    await apiClient(server.url, headers).post('/gateway/heartbeat', {
      ...gateway.nextHeartbeat(),
      capacity: 1,
      running: 0,
      queued: 0,
      sessions: [],
    });
    const tenant = await server.newWorkspace();
    const pushed = { name: 'Pushed', mode: 'push', command: ['node', 'session.js'] };
    expect((await tenant.api.put(`/agents/${newId()}`, pushed)).status).toBe(201);
    await tenant.api.post('/agent-tasks', { title: 'x', taskType: 't' });
    await waitFor('the session to be counted', async () => {
      return valueOf(await scrape(), name) === before + 1;
    });
  });

  it('failed connections to Valkey are counted', async () => {
    const name = 'drover_valkey_connection_errors_total';
    const before = valueOf(await scrape(), name) ?? NaN;
    const refused = await new Promise<ValkeyClient>((resolve) => {
      const onError = (): void => resolve(client);
      const client = new ValkeyClient({ url: 'redis://127.0.0.1:1', onError });
    });
    refused.close();
    expect(valueOf(await scrape(), name)).toBeGreaterThan(before);
  });

  it('docs/operations.md lists exactly these metrics', async () => {
    const text = await scrape();
    const told = [...text.matchAll(/^# TYPE (\w+) /gm)]
      .map(([, name = '']) => name)
      .filter((name) => !/^(process|nodejs)_/.test(name));
    const page = await readFile(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');
    const described = [...page.matchAll(/^\| `([a-z]+_\w+)` +\|/gm)].map(([, name]) => name);
    expect(described.sort()).toEqual(told.sort());
  });

  it('metrics name no tenant, agent, task or secret', async () => {
    const text = await scrape();
    for (const told of [workspace.id, agent.id, workspace.userId, SECRET, TOKEN]) {
      expect(text).not.toContain(told);
    }
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  });
});
