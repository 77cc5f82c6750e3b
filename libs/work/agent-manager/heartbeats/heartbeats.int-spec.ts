import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type EmbeddedValkey, startEmbeddedValkey } from '#lib/local-servers';
import { agentKey, newId } from '#lib/kernel';
import { HeartbeatStore, ValkeyClient, WakeUps } from '#lib/valkey';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import type { AgentValues } from '../../../../test/support/factories.js';
import { expectNothingLeftOpen } from '../../../../test/support/leaks.js';
import { HeartbeatFlusher, markAgentsStale, staleAgents } from '../index.js';
import { transitionAgent } from '#lib/transitions';
import { HeartbeatBuffer } from './heartbeat-buffer.js';
import { HeartbeatWriter, type WriteResult } from './heartbeat-writer.js';
import { Heartbeats } from './heartbeats.js';

// A Valkey of its own, because these tests flush and stop it.
let valkey: EmbeddedValkey;
let server: TestApp;
let workspace: TestWorkspace;
let flusher: HeartbeatFlusher;

beforeAll(async () => {
  valkey = await startEmbeddedValkey();
  // The tests flush by themselves, so that they know the time of each write.
  server = await startTestApp({ VALKEY_URL: valkey.url, HEARTBEAT_FLUSH_MS: '10000' });
  workspace = await server.newWorkspace();
  flusher = server.app.get(HeartbeatFlusher, { strict: false });
});

afterEach(async () => {
  process.kill(valkey.pid, 'SIGCONT');
  await server.app.get(ValkeyClient, { strict: false }).ready(10_000);
  await expectNothingLeftOpen(server.db.owner);
});

afterAll(async () => {
  await server.stop();
  await valkey.stop();
});

const HEARTBEAT = { status: 'healthy', memoryMb: 512, cpuPercent: 35 };

function heartbeat(agent: TestAgent, body: Record<string, unknown> = HEARTBEAT) {
  return agent.api.post(`/agents/${agent.id}/heartbeat`, body);
}

interface HeartbeatRow {
  status: string;
  age: number;
  next: number;
  [column: string]: unknown;
}

async function rowOf({ id }: TestAgent): Promise<HeartbeatRow | undefined> {
  const { rows } = await server.db.owner.query<HeartbeatRow>(
    `SELECT *, extract(epoch FROM now() - last_seen_at)::float8 AS age,
       extract(epoch FROM next_expected_at - last_seen_at)::float8 AS next
     FROM agent_heartbeats WHERE agent_id = $1`,
    [id],
  );
  return rows[0];
}

async function statusOf({ id }: TestAgent): Promise<unknown> {
  return (await workspace.api.get(`/agents/${id}`)).body.status;
}

/** Makes the database's last heartbeat of an agent older. */
async function age({ id }: TestAgent, seconds: number): Promise<void> {
  await server.db.owner.query(
    `UPDATE agent_heartbeats SET last_seen_at = last_seen_at - make_interval(secs => $2),
       next_expected_at = next_expected_at - make_interval(secs => $2) WHERE agent_id = $1`,
    [id, seconds],
  );
}

const keysOf = (agents: TestAgent[]) =>
  server.app
    .get(HeartbeatStore, { strict: false })
    .deadlinesOf(agents.map(({ id: agentId }) => ({ workspaceId: workspace.id, agentId })));

/** The rows of each flush from now on. */
function listen() {
  const spy = jest.spyOn(server.app.get(HeartbeatWriter, { strict: false }), 'write');
  const heard = async () => {
    const results = spy.mock.results.map(({ value }) => value as Promise<WriteResult>);
    return (await Promise.all(results)).map(({ written }) => written);
  };
  return { heard, stop: () => spy.mockRestore() };
}

describe('a heartbeat', () => {
  it('a heartbeat is acknowledged, stored in Valkey at once, and in Postgres with the next flush', async () => {
    const agent = await workspace.newAgent();
    const currentTaskId = newId();
    const body = {
      ...HEARTBEAT,
      status: 'degraded',
      currentTaskId,
      progressPercent: 45,
      currentStep: 'Running tsc --noEmit',
      metadata: { load: [1, 2] },
    };
    const answer = await heartbeat(agent, body);
    expect(answer.status).toBe(200);
    const { acknowledgedAt, nextExpectedAt } = answer.body as Record<string, string>;
    expect(Date.parse(nextExpectedAt ?? '') - Date.parse(acknowledgedAt ?? '')).toBe(30_000);
    const key = agentKey({ workspaceId: workspace.id, agentId: agent.id });
    expect((await keysOf([agent])).get(key)).toBeGreaterThan(179_000);
    expect(await rowOf(agent)).toBeUndefined();
    await flusher.flush();
    const row = await rowOf(agent);
    expect(row).toMatchObject({
      status: 'degraded',
      current_task_id: currentTaskId,
      progress_percent: 45,
      current_step: 'Running tsc --noEmit',
      memory_mb: 512,
      cpu_percent: 35,
      metadata: { load: [1, 2] },
      next: 30,
    });
    const health = await workspace.api.get(`/agents/${agent.id}/health`);
    expect(health).toMatchObject({
      status: 200,
      body: { status: 'degraded', agentStatus: 'IDLE', currentTaskId, memoryMb: 512, liveRuns: 0 },
    });
    expect(health.body.ageSeconds).toBeLessThan(10);
  });

  it('a heartbeat replaces the content of the previous one', async () => {
    const agent = await workspace.newAgent();
    await heartbeat(agent, { ...HEARTBEAT, currentStep: 'one', progressPercent: 1 });
    await flusher.flush();
    await heartbeat(agent, { status: 'healthy' });
    await flusher.flush();
    expect(await rowOf(agent)).toMatchObject({
      current_step: null,
      progress_percent: null,
      memory_mb: null,
    });
  });

  it('a heartbeat counts from its arrival, not from its flush', async () => {
    const agent = await workspace.newAgent();
    server.app.get(HeartbeatBuffer, { strict: false }).put({
      workspaceId: workspace.id,
      agentId: agent.id,
      body: { status: 'healthy' },
      receivedAt: performance.now() - 5_000,
    });
    await flusher.flush();
    expect((await rowOf(agent))?.age).toBeGreaterThanOrEqual(5);
    expect((await rowOf(agent))?.age).toBeLessThan(10);
  });

  it("a heartbeat never moves the agent's time back", async () => {
    const agent = await workspace.newAgent();
    await heartbeat(agent);
    await flusher.flush();
    await age(agent, -60);
    await heartbeat(agent, { ...HEARTBEAT, currentStep: 'late' });
    await flusher.flush();
    const row = await rowOf(agent);
    expect(row?.age).toBeLessThan(-50);
    expect(row?.current_step).toBeNull();
  });

  it.each([
    ['status', { status: 'stale' }],
    ['status', {}],
    ['currentTaskId', { ...HEARTBEAT, currentTaskId: 'x' }],
    ['progressPercent', { ...HEARTBEAT, progressPercent: 101 }],
    ['memoryMb', { ...HEARTBEAT, memoryMb: -1 }],
    ['cpuPercent', { ...HEARTBEAT, cpuPercent: -1.5 }],
    ['currentStep', { ...HEARTBEAT, currentStep: 'a\u0000' }],
    ['metadata', { ...HEARTBEAT, metadata: { text: 'x'.repeat(17_000) } }],
    ['agentId', { ...HEARTBEAT, agentId: newId() }],
  ])('a heartbeat is refused with a wrong %s', async (field, body) => {
    const agent = await workspace.newAgent();
    const answer = await heartbeat(agent, body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field }] } });
    expect((await keysOf([agent])).size).toBe(0);
  });

  it("a heartbeat of another agent's id is not found in any workspace", async () => {
    const [agent, neighbour] = [await workspace.newAgent(), await workspace.newAgent()];
    const stranger = await (await server.newWorkspace()).newAgent();
    for (const id of [neighbour.id, stranger.id, newId()]) {
      const answer = await agent.api.post(`/agents/${id}/heartbeat`, HEARTBEAT);
      expect(answer).toMatchObject({ status: 404, body: { code: 'agent_not_found' } });
    }
    await flusher.flush();
    expect(await rowOf(neighbour)).toBeUndefined();
    expect(await rowOf(stranger)).toBeUndefined();
  });
});

describe('the liveness of an agent', () => {
  const transition = (agent: TestAgent, to: 'ERROR' | 'TERMINATED' | 'DRAINING') =>
    transitionAgent(server.db.database.service, {
      workspaceId: workspace.id,
      agentId: agent.id,
      to,
      reason: 'test',
    });

  it('an agent is active again when it sends heartbeats again', async () => {
    const { heard, stop } = listen();
    const states: [AgentValues, string][] = [
      [{ lifecycle: 'STARTING' }, 'IDLE'],
      [{ lifecycle: 'ERROR' }, 'IDLE'],
      [{ lifecycle: 'DRAINING' }, 'DRAINING'],
      [{ lifecycle: 'ACTIVE' }, 'IDLE'],
    ];
    for (const [values, status] of states) {
      const agent = await workspace.newAgent(values);
      await heartbeat(agent);
      await flusher.flush();
      expect(await statusOf(agent)).toBe(status);
      const revived = values.lifecycle === 'STARTING' || values.lifecycle === 'ERROR';
      const written = { workspace_id: workspace.id, id: agent.id, revived };
      expect((await heard()).flat().at(-1)).toMatchObject(written);
    }
    stop();
  });

  it('an agent that was draining before it became unresponsive continues to drain', async () => {
    const agent = await workspace.newAgent();
    await transition(agent, 'DRAINING');
    await transition(agent, 'ERROR');
    await heartbeat(agent);
    await flusher.flush();
    expect(await statusOf(agent)).toBe('DRAINING');
  });

  it('a returning agent wakes the coordinator', async () => {
    let woken = 0;
    const stop = server.app.get(WakeUps, { strict: false }).onCoordinator(() => (woken += 1));
    const agent = await workspace.newAgent({ lifecycle: 'ERROR' });
    await heartbeat(agent);
    await flusher.flush();
    const after = woken;
    await heartbeat(agent);
    await flusher.flush();
    stop();
    expect([after, woken]).toEqual([1, 1]);
  });

  it('the next heartbeat of a terminated agent is refused', async () => {
    const agent = await workspace.newAgent();
    expect((await heartbeat(agent)).status).toBe(200);
    await transition(agent, 'TERMINATED');
    // The terminating server signals the agent. Other servers receive the signal through Valkey.
    server.app.get(WakeUps, { strict: false }).signals([agent.id]);
    expect(await heartbeat(agent)).toMatchObject({
      status: 409,
      body: { code: 'agent_terminated' },
    });
    await flusher.flush();
    expect(await rowOf(agent)).toBeUndefined();
  });

  it('the next flush finds a terminated agent without a signal', async () => {
    const agent = await workspace.newAgent();
    expect((await heartbeat(agent)).status).toBe(200);
    await transition(agent, 'TERMINATED');
    expect((await heartbeat(agent)).status).toBe(200);
    await flusher.flush();
    expect((await heartbeat(agent)).status).toBe(409);
    expect(await rowOf(agent)).toBeUndefined();
  });
});

describe('stale agents', () => {
  const stale = async () =>
    (await server.db.database.service.rows(staleAgents, [1_000])).map(({ id }) => id);
  const mark = (agents: TestAgent[]) =>
    server.db.database.service.rows(markAgentsStale, [
      agents.map(() => workspace.id),
      agents.map(({ id }) => id),
    ]);

  it('an agent is stale after its own threshold', async () => {
    const [silent, alive] = [await workspace.newAgent(), await workspace.newAgent()];
    await heartbeat(silent);
    await heartbeat(alive);
    await flusher.flush();
    await age(silent, 181);
    await age(alive, 170);
    const found = await stale();
    expect(found).toContain(silent.id);
    expect(found).not.toContain(alive.id);
    const health = await workspace.api.get(`/agents/${silent.id}/health`);
    expect(health.body.status).toBe('stale');
    expect(await mark([silent, alive])).toMatchObject([
      { id: silent.id, previous_status: 'IDLE', status: 'ERROR' },
    ]);
    expect(await stale()).not.toContain(silent.id);
    await heartbeat(silent);
    await flusher.flush();
    expect(await statusOf(silent)).toBe('IDLE');
  });

  it('an agent that never sent a heartbeat is not stale', async () => {
    const id = newId();
    await workspace.api.put(`/agents/${id}`, { name: 'By hand' });
    const agent = { id } as TestAgent;
    await age(agent, 10_000);
    expect(await stale()).not.toContain(id);
    expect((await workspace.api.get(`/agents/${id}/health`)).body).toMatchObject({
      status: 'stale',
      nextExpectedAt: null,
    });
  });

  it("a registration after a long silence leaves an agent's state unchanged", async () => {
    const agent = await workspace.newAgent();
    await heartbeat(agent);
    await flusher.flush();
    await age(agent, 1_000);
    await workspace.api.put(`/agents/${agent.id}`, { name: 'Back' });
    expect(await stale()).not.toContain(agent.id);
    await age(agent, 1_000);
    expect(await stale()).toContain(agent.id);
  });
});

describe('heartbeats while Valkey', () => {
  it('is flushed: no agent is declared dead, and the next heartbeats are stored again', async () => {
    const agent = await workspace.newAgent();
    await heartbeat(agent);
    await flusher.flush();
    await server.app.get(ValkeyClient, { strict: false }).commands.flushall();
    expect((await keysOf([agent])).size).toBe(0);
    expect((await rowOf(agent))?.age).toBeLessThan(60);
    await heartbeat(agent);
    expect((await keysOf([agent])).size).toBe(1);
  });

  it('does not answer: heartbeats are accepted and reach Postgres', async () => {
    const agents = await Promise.all(Array.from({ length: 20 }, () => workspace.newAgent()));
    process.kill(valkey.pid, 'SIGSTOP');
    const first = await Promise.all(agents.map((agent) => heartbeat(agent)));
    expect(first.map(({ status }) => status)).toEqual(agents.map(() => 200));
    const before = performance.now();
    for (const agent of agents) expect((await heartbeat(agent)).status).toBe(200);
    // One of them can have tested whether Valkey answers again.
    expect(performance.now() - before).toBeLessThan(2_900);
    await flusher.flush();
    for (const agent of agents) expect((await rowOf(agent))?.age).toBeLessThan(20);
  });
});

describe('a flush', () => {
  it('a flush writes a thousand agents in one statement', async () => {
    const { rows } = await server.db.owner.query<{ id: string }>(
      `INSERT INTO agents (workspace_id, id, name, lifecycle)
       SELECT $1, uuidv7(), 'bulk ' || n, 'ACTIVE' FROM generate_series(1, 1000) n RETURNING id`,
      [workspace.id],
    );
    const { heard, stop } = listen();
    await heartbeatDirectly(rows.map(({ id }) => id));
    await flusher.flush();
    expect((await heard()).map((written) => written.length)).toEqual([1_000]);
    stop();
    const { rows: written } = await server.db.owner.query(
      `SELECT count(*)::int AS n FROM agent_heartbeats WHERE agent_id = ANY($1)`,
      [rows.map(({ id }) => id)],
    );
    expect(written).toEqual([{ n: 1_000 }]);
  });

  it('a flush does not wait for a locked agent, whose next heartbeat revives it', async () => {
    const agent = await workspace.newAgent({ lifecycle: 'ERROR' });
    const holder = await server.db.owner.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM agents WHERE id = $1 FOR NO KEY UPDATE', [agent.id]);
    await heartbeat(agent);
    await flusher.flush();
    expect(await statusOf(agent)).toBe('ERROR');
    expect((await rowOf(agent))?.age).toBeLessThan(10);
    await holder.query('COMMIT');
    holder.release();
    await heartbeat(agent);
    await flusher.flush();
    expect(await statusOf(agent)).toBe('IDLE');
  });

  it('a flush does not wait for a locked heartbeat, and the next flush writes it', async () => {
    const [locked, free] = [await workspace.newAgent(), await workspace.newAgent()];
    await Promise.all([locked, free].map((agent) => heartbeat(agent)));
    await flusher.flush();
    const writer = server.app.get(HeartbeatWriter, { strict: false });
    const isBehindIn = (ms: number) => {
      const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + ms);
      return [writer.isBehind(), clock.mockRestore()][0];
    };
    const holder = await server.db.owner.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM agent_heartbeats WHERE agent_id = $1 FOR UPDATE', [locked.id]);
    for (const agent of [locked, free]) await heartbeat(agent, { status: 'degraded' });
    await flusher.flush();
    expect((await rowOf(free))?.status).toBe('degraded');
    expect((await rowOf(locked))?.status).toBe('healthy');
    expect([isBehindIn(0), isBehindIn(60_000)]).toEqual([false, true]);
    await holder.query('COMMIT');
    holder.release();
    await flusher.flush();
    expect((await rowOf(locked))?.status).toBe('degraded');
    expect(isBehindIn(60_000)).toBe(false);
  });

  it('a heartbeat that the database refuses does not block the others', async () => {
    const agents = await Promise.all(Array.from({ length: 5 }, () => workspace.newAgent()));
    const poison = agents[2] as TestAgent;
    await server.db.owner.query(
      `ALTER TABLE agent_heartbeats ADD CONSTRAINT refuse CHECK (agent_id <> '${poison.id}')`,
    );
    await Promise.all(agents.map((agent) => heartbeat(agent)));
    await flusher.flush();
    await server.db.owner.query('ALTER TABLE agent_heartbeats DROP CONSTRAINT refuse');
    const written = await Promise.all(agents.map(rowOf));
    expect(written.map((row) => row !== undefined)).toEqual([true, true, false, true, true]);
  });
});

/** Sends many heartbeats without HTTP. */
async function heartbeatDirectly(agentIds: string[]): Promise<void> {
  const heartbeats = server.app.get(Heartbeats, { strict: false });
  await Promise.all(
    agentIds.map(async (agentId) =>
      heartbeats.heartbeat({ kind: 'agent', workspaceId: workspace.id, agentId }, agentId, {
        status: 'healthy',
      }),
    ),
  );
}
