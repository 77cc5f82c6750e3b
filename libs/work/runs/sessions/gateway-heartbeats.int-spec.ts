import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { StandInGateway } from './testing/stand-in-gateway.js';

const MANY = 12;
const HOUR = 3_600;

let gateway: StandInGateway;
let server: TestApp;
let workspace: TestWorkspace;
let agentId: string;

beforeAll(async () => {
  server = await startTestApp((gateway = await StandInGateway.start()).env);
});

beforeEach(async () => {
  gateway.sessions.clear();
  gateway.restart();
  workspace = await server.newWorkspace();
  expect(await heartbeat()).toMatchObject({ status: 200 });
  agentId = newId();
  await register(workspace);
});

afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

async function register({ api }: TestWorkspace): Promise<void> {
  const agent = { name: 'Pushed', mode: 'push', command: ['node'], maxConcurrentTasks: MANY };
  expect((await api.put(`/agents/${agentId}`, agent)).status).toBe(201);
}

interface Held {
  runId: string;
  sessionKey: string;
  status: 'RUNNING';
}

/** A numbered heartbeat that can be sent later than it was made. */
function aHeartbeat(sessions: Held[] = [], values: Record<string, unknown> = {}) {
  const heartbeat = {
    ...gateway.nextHeartbeat(),
    capacity: 100,
    running: 0,
    queued: 0,
    sessions,
    ...values,
  };
  return () => {
    const headers = { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` };
    const api = apiClient(server.url, headers);
    return api.post<{ restarted: boolean; stop: object[] }>('/gateway/heartbeat', heartbeat);
  };
}

const heartbeat = (sessions: Held[] = [], values = {}) => aHeartbeat(sessions, values)();

const all = (): Held[] =>
  [...gateway.sessions].map(([runId, { sessionKey }]) => ({
    runId,
    sessionKey,
    status: 'RUNNING',
  }));

const statusOf = async (id: string) =>
  (await workspace.api.get<{ status: string }>(`/agent-tasks/${id}`)).body.status;

/** A task whose session has run for a minute, by the server's records. */
async function aRunningTask(retryBackoffSeconds = 60): Promise<string> {
  const wanted = { title: 'A task', taskType: 'test', retryBackoffSeconds };
  const { id } = (await workspace.api.post<{ id: string }>('/agent-tasks', wanted)).body;
  await waitFor('its session', async () => (await statusOf(id)) === 'RUNNING');
  await server.db.owner.query(
    `UPDATE session_spawns SET settled_at = now() - interval '1 minute' WHERE task_id = $1`,
    [id],
  );
  return id;
}

/** The waits given to aborted tasks, in seconds, shortest first. */
async function readDelays(): Promise<number[]> {
  // Not read from the tasks: a task with a short wait may be in the queue again by now.
  const { rows } = await server.db.owner.query<{ seconds: number }>(
    `SELECT extract(epoch FROM retry_at - created_at)::float8 AS seconds
     FROM journal WHERE workspace_id = $1 AND event = 'task.status_changed'
       AND new_status = 'ABORTED' ORDER BY 1`,
    [workspace.id],
  );
  return rows.map(({ seconds }) => seconds);
}

async function known() {
  const sql = 'SELECT boot_id, restarts, last_sequence::int FROM gateways WHERE id = $1';
  return (await server.db.owner.query(sql, [gateway.id])).rows[0];
}

const answered = { status: 200, body: { restarted: false } };

describe('a heartbeat of a gateway', () => {
  it('the first heartbeat of a life wakes the coordinator', async () => {
    let woken = 0;
    const stop = server.app.get(WakeUps, { strict: false }).onCoordinator(() => (woken += 1));
    gateway.restart();
    await heartbeat();
    const after = woken;
    await heartbeat();
    stop();
    expect([after, woken]).toEqual([1, 1]);
  });

  it('a heartbeat counts for the agents of its sessions only', async () => {
    await register(await server.newWorkspace());
    await aRunningTask();
    const { owner } = server.db;
    await owner.query(
      `UPDATE agent_heartbeats SET last_seen_at = now() - interval '1 minute' WHERE agent_id = $1`,
      [agentId],
    );
    expect(await heartbeat(all())).toMatchObject({ status: 200, body: { stop: [] } });
    const { rows } = await owner.query(
      `SELECT workspace_id, last_seen_at > now() - interval '30 seconds' AS heard
        FROM agent_heartbeats
       WHERE agent_id = $1 ORDER BY heard DESC`,
      [agentId],
    );
    expect(rows).toMatchObject([{ workspace_id: workspace.id, heard: true }, { heard: false }]);
  });
});

describe('a late heartbeat', () => {
  it('a late heartbeat of an earlier life ends nothing of the later one', async () => {
    const late = aHeartbeat();
    gateway.restart();
    expect((await heartbeat()).body.restarted).toBe(true);
    const id = await aRunningTask();
    const before = await known();
    expect(await late()).toMatchObject(answered);
    expect(await statusOf(id)).toBe('RUNNING');
    expect(await known()).toEqual(before);
    expect((await heartbeat(all())).body.restarted).toBe(false);
  });

  it('a heartbeat after a newer one ends no run that it cannot know', async () => {
    const late = aHeartbeat();
    const id = await aRunningTask();
    await heartbeat(all());
    expect(await late()).toMatchObject(answered);
    expect(await statusOf(id)).toBe('RUNNING');
  });

  it('a heartbeat before a newer one leaves unknown runs to it', async () => {
    const late = aHeartbeat();
    const id = await aRunningTask();
    expect(await late()).toMatchObject(answered);
    expect(await statusOf(id)).toBe('RUNNING');
    await heartbeat();
    expect(await statusOf(id)).toBe('ABORTED');
  });

  it('a late heartbeat is told which sessions to stop, and is no sign of life', async () => {
    const late = aHeartbeat([{ runId: newId(), sessionKey: 'k', status: 'RUNNING' }]);
    await heartbeat();
    await server.db.owner.query(
      `UPDATE agents SET lifecycle = 'ERROR', error_at = now() WHERE id = $1`,
      [agentId],
    );
    expect((await late()).body.stop).toMatchObject([{ reason: 'unknown_run' }]);
    const lifecycle = async () => (await workspace.api.get(`/agents/${agentId}`)).body['status'];
    expect(await lifecycle()).toBe('ERROR');
    await heartbeat();
    expect(await lifecycle()).toBe('IDLE');
  });
});

describe('a gateway that lost many sessions at once', () => {
  it.each([
    ['because it restarted', true],
    ['and lives on', false],
  ])('a gateway lost many sessions %s: their retries spread', async (_why, restarts) => {
    await Promise.all(Array.from({ length: MANY }, () => aRunningTask(HOUR)));
    if (restarts) gateway.restart();
    expect((await heartbeat()).body.restarted).toBe(restarts);
    const delays = await readDelays();
    expect(new Set(delays).size).toBe(MANY);
    const [shortest, longest] = [delays[0] as number, delays.at(-1) as number];
    expect(shortest).toBeGreaterThanOrEqual(0);
    expect(longest).toBeLessThanOrEqual(HOUR);
    // A dozen uniform draws are closer than that once in ten thousand million times.
    expect(longest - shortest).toBeGreaterThan(HOUR / 10);
  });
});

describe('a run whose session has ended before its report', () => {
  const runOf = async (id: string) => {
    const { body } = await workspace.api.get<{ runId: string }>(`/agent-tasks/${id}`);
    return body.runId;
  };

  const report = (runId: string, error: Record<string, unknown>) => {
    const headers = { authorization: `Bearer ${gateway.token()}` };
    const at = new Date().toISOString();
    return apiClient(server.url, headers).post<{ results: object[] }>('/gateway/sessions', {
      gatewayId: gateway.id,
      bootId: gateway.bootId,
      reports: [{ runId, sessionKey: 'k', event: 'exited', at, error }],
    });
  };

  it.each([false, true])(
    'a run whose session has ended is not lost (in a next life: %j)',
    async (next) => {
      const id = await aRunningTask();
      const runId = await runOf(id);
      await server.db.owner.query(
        `UPDATE agent_heartbeats SET last_seen_at = now() - interval '1 hour' WHERE agent_id = $1`,
        [agentId],
      );
      if (next) gateway.restart();
      expect((await heartbeat([], { ended: [runId] })).body).toMatchObject({
        restarted: next,
        stop: [],
      });
      expect(await statusOf(id)).toBe('RUNNING');
      const { rows } = await server.db.owner.query(
        `SELECT 1 FROM agent_heartbeats WHERE agent_id = $1
          AND last_seen_at > now() - interval '1 minute'`,
        [agentId],
      );
      expect(rows).toHaveLength(1);
      const { body } = await report(runId, { class: 'drained', message: 'It leaves' });
      expect(body.results).toEqual([{ runId, applied: true }]);
      const { body: task } = await workspace.api.get(`/agent-tasks/${id}`);
      expect(task).toMatchObject({ retryCount: 0, lastError: null });
    },
  );

  it('a run whose session has ended is not asked to stop, and is no conflict', async () => {
    const id = await aRunningTask();
    const runId = await runOf(id);
    await workspace.api.post(`/agent-tasks/${id}/cancel`, {});
    expect((await heartbeat([], { ended: [runId] })).body.stop).toEqual([]);
  });
});

describe('the order of heartbeats', () => {
  it('the order of heartbeats recovers from a clock that was set back', async () => {
    const id = await aRunningTask();
    gateway.restart();
    const startedAt = new Date(Date.now() - 3_600_000).toISOString();
    expect(await heartbeat([], { startedAt })).toMatchObject(answered);
    expect(await statusOf(id)).toBe('RUNNING');
    await server.db.owner.query(
      `UPDATE gateways SET last_seen_at = now() - interval '121 seconds' WHERE id = $1`,
      [gateway.id],
    );
    expect((await heartbeat([], { startedAt })).body.restarted).toBe(true);
    expect(await statusOf(id)).toBe('ABORTED');
    expect(await known()).toMatchObject({ boot_id: gateway.bootId });
    expect((await heartbeat([], { startedAt })).body.restarted).toBe(false);
  });

  it.each([undefined, 0, 1.5, '1'])(
    'the number of a heartbeat must be a whole number, not %j',
    async (sequence) => {
      const answer = await heartbeat([], { sequence });
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'sequence' }] } });
    },
  );
});
