import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../test/support/app.js';

interface Explanation {
  taskId: string;
  status: string;
  live: boolean;
  reasons: { code: string; message: string; facts: Record<string, unknown> }[];
  at: string;
}

let server: TestApp;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await startTestApp();
  workspace = await server.newWorkspace();
});

afterAll(() => server.stop());

async function create(values: Record<string, unknown> = {}): Promise<string> {
  const body = { title: 'A task', taskType: 'test', ...values };
  const answer = await workspace.api.post<{ id: string }>('/agent-tasks', body);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

async function explain(id: string): Promise<Explanation> {
  const { status, body } = await workspace.api.get<Explanation>(`/agent-tasks/${id}/explain`);
  expect(status).toBe(200);
  return body;
}

const codesOf = ({ reasons }: Explanation) => reasons.map(({ code }) => code);

/** A capability that no other test uses. */
const unique = () => `only-${newId()}`;

describe('a ready task', () => {
  it('without an agent for it: which capabilities nobody has', async () => {
    const [had, missing] = [unique(), unique()];
    await workspace.newAgent({ capabilities: [had] });
    const explanation = await explain(await create({ requiredCapabilities: [had, missing] }));
    expect(explanation).toMatchObject({ status: 'PENDING', live: false });
    expect(explanation.reasons).toMatchObject([
      { code: 'no_capable_agent', facts: { missingCapabilities: [missing] } },
    ]);
    await workspace.newAgent({ capabilities: [missing], lifecycle: 'TERMINATED' });
    const later = await explain(await create({ requiredCapabilities: [missing] }));
    expect(later.reasons[0]?.facts).toMatchObject({ missingCapabilities: [missing] });
  });

  it('with agents that can not: how each of them stands', async () => {
    const capability = unique();
    const capabilities = [capability];
    const full = await workspace.newAgent({ capabilities });
    await create({ requiredCapabilities: capabilities });
    await full.api.post(`/agents/${full.id}/claim`);
    const draining = await workspace.newAgent({ capabilities, lifecycle: 'DRAINING' });
    const lost = await workspace.newAgent({ capabilities, lifecycle: 'ERROR' });
    const silent = await workspace.newAgent({ capabilities });
    await server.db.owner.query(
      `INSERT INTO agent_heartbeats (workspace_id, agent_id, status, last_seen_at)
       VALUES ($1, $2, 'healthy', now() - interval '1 hour')`,
      [workspace.id, silent.id],
    );
    const { reasons } = await explain(await create({ requiredCapabilities: capabilities }));
    const agentsOf = (code: string) => {
      const facts = reasons.find((reason) => reason.code === code)?.facts;
      const agents = (facts?.['agents'] ?? []) as { id: string }[];
      expect(facts?.['count']).toBe(agents.length);
      return agents.map(({ id }) => id).sort();
    };
    expect(reasons).toHaveLength(3);
    expect(agentsOf('agents_full')).toEqual([full.id]);
    expect(agentsOf('agents_draining')).toEqual([draining.id]);
    expect(agentsOf('agents_offline')).toEqual([lost.id, silent.id].sort());
  });

  it('that waits its turn: how many rank before it', async () => {
    const requiredCapabilities = [unique()];
    const first = await create({ requiredCapabilities });
    const last = await create({ requiredCapabilities, priority: 1 });
    await create({ requiredCapabilities, priority: 10 });
    await create({ requiredCapabilities: [unique()], priority: 10 });
    await workspace.newAgent({ capabilities: requiredCapabilities });
    expect((await explain(last)).reasons).toMatchObject([
      { code: 'waiting_for_claim', facts: { count: 1 } },
      { code: 'queued_behind', facts: { count: 2, isMore: false } },
    ]);
    expect((await explain(first)).reasons[1]?.facts).toMatchObject({ count: 1 });
  });
});

describe('a task that depends on others', () => {
  it('names them, and what their end means', async () => {
    const requiredCapabilities = [unique()];
    await workspace.newAgent({ capabilities: requiredCapabilities });
    const running = await create({ title: 'Build', requiredCapabilities: [unique()] });
    const cancelled = await create({ title: 'Check', requiredCapabilities: [unique()] });
    const id = await create({ requiredCapabilities, dependsOn: [running, cancelled] });
    await workspace.api.post(`/agent-tasks/${cancelled}/cancel`);
    const { reasons } = await explain(id);
    expect(reasons).toMatchObject([
      {
        code: 'dependency_failed',
        facts: { taskId: cancelled, status: 'ABORTED', policy: 'block' },
      },
      { code: 'waiting_for_dependency', facts: { taskId: running, status: 'PENDING' } },
    ]);
    expect(reasons[1]?.message).toContain('"Build"');
  });

  it('tells of many only the first, and how many more', async () => {
    const dependsOn = await Promise.all(
      Array.from({ length: 23 }, () => create({ requiredCapabilities: [unique()] })),
    );
    const { reasons } = await explain(
      await create({ dependsOn, requiredCapabilities: [unique()] }),
    );
    expect(reasons.filter(({ code }) => code === 'waiting_for_dependency')).toHaveLength(20);
    expect(reasons.find(({ code }) => code === 'waiting_for_more_dependencies')?.facts).toEqual({
      count: 3,
    });
  });
});

it('follows a task through its life', async () => {
  const requiredCapabilities = [unique()];
  const id = await create({ requiredCapabilities, retryBackoffSeconds: 3600 });
  const agent = await workspace.newAgent({ capabilities: requiredCapabilities });
  const codes: string[][] = [];
  const note = async () => codes.push(codesOf(await explain(id)));

  await workspace.api.post(`/agent-tasks/${id}/pause`, { reason: 'lunch' });
  await note();
  expect((await explain(id)).reasons[0]?.facts).toMatchObject({ reason: 'lunch' });
  await workspace.api.post(`/agent-tasks/${id}/resume`);
  await note();

  const claimed = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
    `/agents/${agent.id}/claim`,
  );
  const runId = claimed.body.tasks[0]?.run.id;
  const live = await explain(id);
  expect(live).toMatchObject({ live: true, reasons: [{ facts: { runId, agentId: agent.id } }] });
  await note();

  await agent.api.post(`/runs/${runId}/start`);
  await agent.api.post(`/runs/${runId}/fail`, {
    error: { message: 'it broke', class: 'exit_code', exitCode: 3 },
  });
  await note();
  await workspace.api.post(`/agent-tasks/${id}/cancel`);
  await note();
  expect((await explain(id)).reasons[0]).toMatchObject({
    facts: { reason: 'cancelled', error: 'it broke', runId, exitCode: 3 },
  });
  await workspace.api.post(`/agent-tasks/${id}/archive`);
  await note();

  expect(codes).toEqual([
    ['paused'],
    ['waiting_for_claim'],
    ['held_by_run'],
    ['waiting_for_retry'],
    ['aborted'],
    ['archived'],
  ]);
});
