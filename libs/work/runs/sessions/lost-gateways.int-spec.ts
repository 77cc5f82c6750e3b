import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
// The clock of the coordinator's mass-failure guard, which no interface exposes.
import { LivenessObserver } from '../../coordinator/liveness/liveness-observer.js';
import { StandInGateway } from './testing/stand-in-gateway.js';

const THRESHOLD_SECONDS = 4;

let gateway: StandInGateway;
let server: TestApp;
let workspace: TestWorkspace;
let agentId: string;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  server = await startTestApp({ ...gateway.env, GATEWAY_STALE_SECONDS: '2' });
});

beforeEach(async () => {
  gateway.replace();
  workspace = await server.newWorkspace();
  await heartbeat();
  agentId = newId();
  const { status } = await workspace.api.put(`/agents/${agentId}`, {
    name: 'Pushed',
    mode: 'push',
    command: ['node'],
    maxConcurrentTasks: 4,
    heartbeatIntervalSeconds: 1,
    staleThresholdSeconds: THRESHOLD_SECONDS,
  });
  expect(status).toBe(201);
});

afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

async function heartbeat(): Promise<void> {
  const headers = { authorization: `Bearer ${gateway.token()}` };
  const { status } = await apiClient(server.url, headers).post('/gateway/heartbeat', {
    ...gateway.nextHeartbeat(),
    capacity: 100,
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

async function taskOf(id: string) {
  return (await workspace.api.get<Record<string, unknown>>(`/agent-tasks/${id}`)).body;
}

/** A task with a session at the current gateway. */
async function aRunningTask(): Promise<string> {
  const wanted = { title: 'A task', taskType: 'test', retryBackoffSeconds: 60 };
  const { id } = (await workspace.api.post<{ id: string }>('/agent-tasks', wanted)).body;
  await waitFor('its session', async () => {
    await heartbeat();
    return (await taskOf(id))['status'] === 'RUNNING';
  });
  return id;
}

/** No gateway is heard or called for longer than any threshold. */
async function silence(): Promise<void> {
  const long = `now() - interval '${THRESHOLD_SECONDS + 1} seconds'`;
  await server.db.owner.query(`UPDATE gateways SET last_seen_at = ${long}`);
  await server.db.owner.query(`UPDATE session_spawns SET settled_at = ${long}
    WHERE settled_at IS NOT NULL`);
}

/** Acts as another gateway's heartbeats: the agent never becomes stale. */
const agentIsHeard = () =>
  server.db.owner.query(
    `UPDATE agent_heartbeats SET last_seen_at = now(),
      next_expected_at = now() + interval '1 second'
     WHERE agent_id = $1`,
    [agentId],
  );

const listened = () =>
  waitFor('long enough listening', () => observer().observedMs() > THRESHOLD_SECONDS * 1_000);

const observer = () => server.app.get(LivenessObserver, { strict: false });

async function recover(): Promise<void> {
  const body = { workspaceId: workspace.id };
  const answer = await workspace.api.post('/coordinator/recover', body);
  expect(answer).toMatchObject({ status: 200, body: { failedSteps: [] } });
}

describe('a gateway that is unresponsive while another is heard', () => {
  it('an unresponsive gateway loses its runs after the threshold, and the other none', async () => {
    const lost = [await aRunningTask(), await aRunningTask()];
    gateway.replace();
    await heartbeat();
    const held = await aRunningTask();
    await waitFor('the lost runs to be recovered', async () => {
      await heartbeat();
      await recover();
      const tasks = await Promise.all(lost.map(taskOf));
      return tasks.every(({ status }) => status === 'ABORTED');
    });
    for (const id of lost) {
      expect(await taskOf(id)).toMatchObject({
        status: 'ABORTED',
        abortReason: 'agent_stale',
        retryCount: 1,
        lastError: 'Its gateway has stopped sending heartbeats',
      });
    }
    expect((await taskOf(held))['status']).toBe('RUNNING');
    expect((await workspace.api.get(`/agents/${agentId}`)).body).toMatchObject({ liveRuns: 1 });
  });

  it('a server that could not hear a gateway does not take it for lost', async () => {
    const id = await aRunningTask();
    await listened();
    await silence();
    gateway.replace();
    await heartbeat();
    // As after a minute of the machine's sleep.
    observer().tick({ monotonic: performance.now(), wall: Date.now() + 60_000 });
    await recover();
    expect((await taskOf(id))['status']).toBe('RUNNING');
  });

  it('no gateway is taken for lost while none is heard', async () => {
    const id = await aRunningTask();
    gateway.replace();
    await heartbeat();
    await listened();
    await silence();
    await agentIsHeard();
    await recover();
    expect((await taskOf(id))['status']).toBe('RUNNING');
  });

  it('an unresponsive gateway keeps a session for which it has answered since', async () => {
    const id = await aRunningTask();
    await listened();
    await server.db.owner.query(
      `UPDATE gateways SET last_seen_at = now() - interval '1 hour' WHERE id = $1`,
      [gateway.id],
    );
    await server.db.owner.query(
      `UPDATE session_spawns SET settled_at = now() WHERE state = 'SPAWNED'`,
    );
    gateway.replace();
    await heartbeat();
    await agentIsHeard();
    await recover();
    expect((await taskOf(id))['status']).toBe('RUNNING');
  });
});
