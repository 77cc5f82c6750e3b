import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EVERYWHERE } from '#lib/transitions';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { HeartbeatStore } from '#lib/valkey';
import { waitFor } from '../../../../test/support/wait-for.js';
import { LivenessObserver } from '../liveness/liveness-observer.js';
import { Pass } from '../cycle/pass.js';
import { ReapStaleAgents } from './reap-stale-agents.js';

const THRESHOLD_SECONDS = 2;
const FLEET = 3;

/** This server does not lead, so it evaluates agents only when a test asks for it. */
let server: TestApp;
let reaper: ReapStaleAgents;
let pass: Pass;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
  pass = new Pass(server.db.database, () => Promise.resolve(), 100, EVERYWHERE);
  reaper = server.app.get(ReapStaleAgents, { strict: false });
  workspace = await server.newWorkspace();
  for (let n = 0; n < FLEET; n++) await workspace.newAgent();
  await impatient();
  const observer = server.app.get(LivenessObserver, { strict: false });
  await waitFor('a threshold of observation', () => {
    return observer.observedMs() > THRESHOLD_SECONDS * 1_000;
  });
});

afterAll(() => server.stop());

async function impatient(): Promise<void> {
  await server.db.owner.query(
    'UPDATE agents SET heartbeat_interval_seconds = 1, stale_threshold_seconds = $1',
    [THRESHOLD_SECONDS],
  );
}

async function allHeartbeat(): Promise<void> {
  await server.db.owner.query(
    `INSERT INTO agent_heartbeats (workspace_id, agent_id, status, last_seen_at)
     SELECT workspace_id, id, 'healthy', now() FROM agents
     ON CONFLICT (workspace_id, agent_id) DO UPDATE SET last_seen_at = now()`,
  );
}

async function allUnresponsive(): Promise<void> {
  await waitFor('all to be unresponsive', async () => {
    const { rows } = await server.db.owner.query(
      `SELECT FROM agent_heartbeats WHERE last_seen_at < now() - make_interval(secs => $1)`,
      [THRESHOLD_SECONDS],
    );
    return rows.length === FLEET;
  });
}

async function countReaped(): Promise<number> {
  return (await reaper.sweep(pass)).moved;
}

describe('a lock that keeps heartbeats from being written', () => {
  it('a process that cannot write heartbeats because of a lock counts as blind', async () => {
    const observer = server.app.get(LivenessObserver, { strict: false });
    const holder = await server.db.owner.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE agent_heartbeats IN EXCLUSIVE MODE');
      await waitFor('it to know', () => observer.observedMs() === 0);
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
    await waitFor('it to hear again', () => observer.observedMs() > 0);
    expect(observer.observedMs()).toBeLessThan(3_000);
    await waitFor('a threshold of observation', () => {
      return observer.observedMs() > THRESHOLD_SECONDS * 1_000;
    });
  });
});

describe('a whole fleet that becomes unresponsive again', () => {
  it('a whole fleet that becomes unresponsive again is spared again', async () => {
    await allHeartbeat();
    await allUnresponsive();
    expect(await countReaped()).toBe(0);
    // Another server leads meanwhile, and this one evaluates nothing.
    await allHeartbeat();
    await allUnresponsive();
    expect(await countReaped()).toBe(0);
    const start = performance.now();
    const lost = await waitFor(
      'the second wait to be over',
      async () => (await countReaped()) || false,
    );
    expect(lost).toBe(FLEET);
    expect(performance.now() - start).toBeGreaterThan(0.9 * THRESHOLD_SECONDS * 1_000);
  });
});

describe('a deadline in Valkey', () => {
  let agentId: string;

  beforeAll(async () => {
    agentId = (await workspace.newAgent()).id;
    // The deadline comes from an earlier, longer threshold, or from a clock that was set back.
    const store = server.app.get(HeartbeatStore, { strict: false });
    const agent = { workspaceId: workspace.id, agentId };
    await store.record({ ...agent, status: 'healthy', staleThresholdSeconds: 1_000 });
    await impatient();
  });

  async function lastSeenBefore(seconds: number): Promise<void> {
    await allHeartbeat();
    await server.db.owner.query(
      `UPDATE agent_heartbeats SET last_seen_at = now() - make_interval(secs => $2)
        WHERE agent_id = $1`,
      [agentId, seconds],
    );
  }

  it('a deadline in Valkey spares an agent with unwritten heartbeats', async () => {
    await lastSeenBefore(1.5 * THRESHOLD_SECONDS);
    expect(await countReaped()).toBe(0);
  });

  it('a deadline in Valkey spares no agent of the same id in another workspace', async () => {
    const other = await server.newWorkspace();
    await other.newAgent({ id: agentId });
    await impatient();
    await lastSeenBefore(1.5 * THRESHOLD_SECONDS);
    expect(await countReaped()).toBe(1);
    const { rows } = await server.db.owner.query(
      'SELECT workspace_id, lifecycle FROM agents WHERE id = $1',
      [agentId],
    );
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual({ workspace_id: workspace.id, lifecycle: 'ACTIVE' });
    expect(rows).toContainEqual({ workspace_id: other.id, lifecycle: 'ERROR' });
  });

  it('a deadline in Valkey spares an agent for at most one more threshold', async () => {
    await lastSeenBefore(2 * THRESHOLD_SECONDS + 0.1);
    expect(await countReaped()).toBe(1);
  });
});

describe('agents with different thresholds', () => {
  it('each agent is judged by its own threshold', async () => {
    const [patient, hasty] = [await workspace.newAgent(), await workspace.newAgent()];
    await allHeartbeat();
    await server.db.owner.query('UPDATE agents SET stale_threshold_seconds = 1_000 WHERE id = $1', [
      patient.id,
    ]);
    await server.db.owner.query(
      'UPDATE agents SET heartbeat_interval_seconds = 1, stale_threshold_seconds = $1 WHERE id = $2',
      [THRESHOLD_SECONDS, hasty.id],
    );
    await server.db.owner.query(
      `UPDATE agent_heartbeats SET last_seen_at = now() - make_interval(secs => $1)
        WHERE agent_id = ANY ($2)`,
      [2 * THRESHOLD_SECONDS, [patient.id, hasty.id]],
    );
    expect(await countReaped()).toBe(1);
    const { rows } = await server.db.owner.query(
      `SELECT id FROM agents WHERE lifecycle = 'ERROR' AND id = ANY ($1)`,
      [[patient.id, hasty.id]],
    );
    expect(rows).toEqual([{ id: hasty.id }]);
  });
});
