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

/** It does not lead, so that only what is asked for here is judged. */
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

async function reaped(): Promise<number> {
  return (await reaper.sweep(pass)).moved;
}

describe('a lock that keeps heartbeats from being written', () => {
  it('makes this process one that cannot hear', async () => {
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
  it('is waited for again, though nobody judged when it was heard in between', async () => {
    await allHeartbeat();
    await allUnresponsive();
    expect(await reaped()).toBe(0);
    // Another one leads meanwhile, and this one judges nothing.
    await allHeartbeat();
    await allUnresponsive();
    expect(await reaped()).toBe(0);
    const start = performance.now();
    const lost = await waitFor('the second wait to be over', async () => (await reaped()) || false);
    expect(lost).toBe(FLEET);
    expect(performance.now() - start).toBeGreaterThan(0.9 * THRESHOLD_SECONDS * 1_000);
  });
});

describe('a deadline in Valkey', () => {
  let agentId: string;

  beforeAll(async () => {
    agentId = (await workspace.newAgent()).id;
    // Of a longer threshold that it had before, or of a clock that was set back since.
    const store = server.app.get(HeartbeatStore, { strict: false });
    const agent = { workspaceId: workspace.id, agentId };
    await store.record({ ...agent, status: 'healthy', staleThresholdSeconds: 1_000 });
    await impatient();
  });

  async function lastSeenBefore(seconds: number): Promise<void> {
    await allHeartbeat();
    await server.db.owner.query(
      `UPDATE agent_heartbeats SET last_seen_at = now() - make_interval(secs => $2) WHERE agent_id = $1`,
      [agentId, seconds],
    );
  }

  it('spares an agent whose heartbeats may not have been written yet', async () => {
    await lastSeenBefore(1.5 * THRESHOLD_SECONDS);
    expect(await reaped()).toBe(0);
  });

  it('spares no agent of the same id in another workspace', async () => {
    const other = await server.newWorkspace();
    await other.newAgent({ id: agentId });
    await impatient();
    await lastSeenBefore(1.5 * THRESHOLD_SECONDS);
    expect(await reaped()).toBe(1);
    const { rows } = await server.db.owner.query(
      'SELECT workspace_id, lifecycle FROM agents WHERE id = $1',
      [agentId],
    );
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual({ workspace_id: workspace.id, lifecycle: 'ACTIVE' });
    expect(rows).toContainEqual({ workspace_id: other.id, lifecycle: 'ERROR' });
  });

  it('spares it for no longer than one threshold more, whatever it says', async () => {
    await lastSeenBefore(2 * THRESHOLD_SECONDS + 0.1);
    expect(await reaped()).toBe(1);
  });
});
