import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  sharedServer,
  type TestAgent,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { aTask } from '../../../../test/support/task-factories.js';

/**
 * Agents that never send heartbeats: health, status, explanations and estimates agree about them.
 */

let server: TestServer;
let workspace: TestWorkspace;
let agent: TestAgent;

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 2 });
  await register();
});
afterAll(() => server.stop());

async function register(): Promise<void> {
  const path = `/agents/${agent.id}`;
  expect((await workspace.api.put(path, { name: 'By hand' })).status).toBe(200);
}

async function elapseAnHour(): Promise<void> {
  await server.db.owner.query(
    `UPDATE agent_heartbeats SET last_seen_at = last_seen_at - interval '1 hour'
      WHERE agent_id = $1`,
    [agent.id],
  );
}

interface Explanation {
  reasons: { code: string }[];
  estimate: { unknownBecause: string | null };
}

async function readViews() {
  const taskId = await aTask(server.db.owner, workspace.id, { requiredCapabilities: [] });
  const { api } = workspace;
  const explained = await api.get<Explanation>(`/agent-tasks/${taskId}/explain`);
  const status = await api.get<{ stats: object }>('/coordinator/status');
  const health = await api.get<{ status: string }>(`/agents/${agent.id}/health`);
  return {
    health: health.body.status,
    reasons: explained.body.reasons.map(({ code }) => code),
    stats: status.body.stats,
    unknownBecause: explained.body.estimate.unknownBecause,
  };
}

const claim = () => agent.api.post<{ tasks: unknown[] }>(`/agents/${agent.id}/claim`, {});

/** The agent has never sent a heartbeat, so its health is unknown. */
const HEARD = {
  health: 'unknown',
  reasons: ['waiting_for_claim'],
  stats: { healthyAgents: 1, staleAgents: 0 },
  unknownBecause: 'no_history',
};
const UNHEARD = {
  health: 'stale',
  reasons: ['agents_offline'],
  stats: { healthyAgents: 0, staleAgents: 1 },
  unknownBecause: 'no_agent',
};

it('an agent that has just registered counts as available', async () => {
  expect(await readViews()).toMatchObject(HEARD);
});

it('an agent counts as unavailable if nothing was heard since it registered', async () => {
  await elapseAnHour();
  expect(await readViews()).toMatchObject(UNHEARD);
});

it('a claim is a sign of life, even if it gets nothing', async () => {
  await elapseAnHour();
  expect((await claim()).body.tasks).toEqual([]);
  expect(await readViews()).toMatchObject(HEARD);
});

it('an agent that works under a lease of its own counts as available', async () => {
  await aTask(server.db.owner, workspace.id);
  expect((await claim()).body.tasks).toHaveLength(1);
  await elapseAnHour();
  expect(await readViews()).toMatchObject(HEARD);
});

it('a push agent without sessions owes no heartbeats and is not missed', async () => {
  await server.db.owner.query(`UPDATE agents SET mode = 'push', command = '{true}' WHERE id = $1`, [
    agent.id,
  ]);
  await server.db.owner.query(
    `UPDATE agent_heartbeats SET next_expected_at = now() WHERE agent_id = $1`,
    [agent.id],
  );
  await elapseAnHour();
  const { health, stats } = await readViews();
  expect([health, stats]).toMatchObject(['healthy', { healthyAgents: 1, staleAgents: 0 }]);
  const { body } = await workspace.api.get(`/agents/${agent.id}/health`);
  expect(body['nextExpectedAt']).toBeNull();
});

it('signs of life of an agent are written only a few times in its threshold', async () => {
  const lastSeen = async () => {
    const { body } = await workspace.api.get(`/agents/${agent.id}/health`);
    return body['lastSeenAt'];
  };
  const registered = await lastSeen();
  await claim();
  expect(await lastSeen()).toBe(registered);
});

it('a claim does not oblige an agent to send heartbeats', async () => {
  await elapseAnHour();
  await claim();
  const { body } = await workspace.api.get(`/agents/${agent.id}/health`);
  expect(body).toMatchObject({ status: 'unknown', nextExpectedAt: null });
});
