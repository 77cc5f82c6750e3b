import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { HeartbeatFlusher } from './heartbeat-flusher.js';

let server: TestApp;
let workspace: TestWorkspace;
let flusher: HeartbeatFlusher;

beforeAll(async () => {
  // The tests flush by themselves.
  server = await startTestApp({ HEARTBEAT_FLUSH_MS: '10000', ROLES: 'api' });
  workspace = await server.newWorkspace();
  flusher = server.app.get(HeartbeatFlusher, { strict: false });
});

afterAll(() => server.stop());

const HEARTBEAT = { status: 'healthy', memoryMb: 512, cpuPercent: 35 };

describe('the history of heartbeats', () => {
  const pageOf = async ({ id }: TestAgent, query: string) => {
    const { status, body } = await workspace.api.get(`/agents/${id}/heartbeats?${query}`);
    const items = (body.items ?? []) as { seenAt: string; currentStep: string | null }[];
    return { status, body, items, next: body.nextCursor as string | null };
  };
  const stepsOf = async (agent: TestAgent, query = '') =>
    (await pageOf(agent, query)).items.map(({ currentStep }) => currentStep);

  async function heartbeatAt(agent: TestAgent, step: string, secondsOn = 0): Promise<void> {
    const shift = 'make_interval(secs => $2)';
    await server.db.owner.query(
      `UPDATE agent_heartbeats SET last_seen_at = last_seen_at - ${shift},
        kept_at = kept_at - ${shift}
       WHERE agent_id = $1`,
      [agent.id, secondsOn],
    );
    await agent.api.post(`/agents/${agent.id}/heartbeat`, { ...HEARTBEAT, currentStep: step });
    await flusher.flush();
  }

  it('the history has the first heartbeat of each interval', async () => {
    const agent = await workspace.newAgent();
    await heartbeatAt(agent, 'one');
    await heartbeatAt(agent, 'at once');
    await server.db.owner.query(
      'UPDATE agent_heartbeats SET last_seen_at = now() WHERE agent_id = $1',
      [agent.id],
    );
    await heartbeatAt(agent, 'two', 61);
    // At the end of a minute the second heartbeat belongs to the next minute.
    const steps = (await stepsOf(agent)).filter((step) => step !== 'at once');
    expect(steps).toEqual(['two', 'one']);
    const { items } = await pageOf(agent, 'limit=1');
    expect(items).toEqual([
      {
        ...HEARTBEAT,
        currentStep: 'two',
        currentTaskId: null,
        progressPercent: null,
        seenAt: expect.any(String),
      },
    ]);
  });

  it('the history comes in pages, newest first, within the given times', async () => {
    const agent = await workspace.newAgent();
    await server.db.owner.query(
      `INSERT INTO agent_heartbeat_history (workspace_id, agent_id, seen_at, status, current_step)
       SELECT $1, $2, timestamptz '2026-01-05T00:00:00Z' + make_interval(hours => n), 'healthy',
         n::text
       FROM generate_series(0, 48) n`,
      [workspace.id, agent.id],
    );
    const first = await pageOf(agent, 'limit=30');
    const second = await stepsOf(agent, `limit=30&cursor=${first.next}`);
    const all = [...first.items.map(({ currentStep }) => currentStep), ...second];
    expect(all).toEqual(Array.from({ length: 49 }, (_, n) => `${48 - n}`));
    const range = 'from=2026-01-05T23:00:00Z&to=2026-01-06T03:00:00%2B01:00';
    const within = await pageOf(agent, `${range}&limit=2`);
    expect(within.items.map(({ currentStep }) => currentStep)).toEqual(['25', '24']);
    expect(await stepsOf(agent, `${range}&limit=2&cursor=${within.next}`)).toEqual(['23']);
    expect((await pageOf(agent, 'cursor=WzFd')).status).toBe(200);
    expect((await pageOf(agent, 'cursor=Wy0xXQ')).body.code).toBe('malformed_cursor');
  });

  it("the history of a new agent is empty, and other workspaces' histories are invisible", async () => {
    const agent = await workspace.newAgent();
    expect((await pageOf(agent, '')).body).toEqual({ items: [], nextCursor: null });
    await heartbeatAt(agent, 'ours');
    const other = await server.newWorkspace();
    expect((await other.api.get(`/agents/${agent.id}/heartbeats`)).body.code).toBe(
      'agent_not_found',
    );
  });
});
