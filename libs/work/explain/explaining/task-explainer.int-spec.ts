import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';

interface Range {
  p50: string;
  p90: string;
}

interface Explanation {
  taskId: string;
  status: string;
  live: boolean;
  reasons: { code: string; message: string; facts: Record<string, unknown> }[];
  estimate: {
    start: Range | null;
    end: Range | null;
    unknownBecause: string | null;
    basis: Record<string, unknown>;
  };
  at: string;
}

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer('all');
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
  it('a ready task without a capable agent names the missing capabilities', async () => {
    const [had, missing] = [unique(), unique()];
    await workspace.newAgent({ capabilities: [had] });
    const explanation = await explain(await create({ requiredCapabilities: [had, missing] }));
    expect(explanation).toMatchObject({ status: 'PENDING', live: false });
    expect(explanation.reasons).toMatchObject([
      { code: 'no_capable_agent', facts: { missingCapabilities: [missing] } },
    ]);
    expect(explanation.estimate).toMatchObject({ start: null, unknownBecause: 'no_agent' });
    await workspace.newAgent({ capabilities: [missing], lifecycle: 'TERMINATED' });
    const later = await explain(await create({ requiredCapabilities: [missing] }));
    expect(later.reasons[0]?.facts).toMatchObject({ missingCapabilities: [missing] });
  });

  it('a ready task names the closest agents and their missing capabilities', async () => {
    const other = await server.newWorkspace();
    const needed = { title: 'A task', taskType: 'test', requiredCapabilities: ['a', 'b', 'c'] };
    const { body } = await other.api.post<{ id: string }>('/agent-tasks', needed);
    await other.newAgent({ capabilities: ['a'] });
    const two = await other.newAgent({ capabilities: ['a', 'c', 'z'] });
    await other.newAgent({ capabilities: ['a', 'b', 'c'], lifecycle: 'TERMINATED' });
    const answer = await other.api.get<Explanation>(`/agent-tasks/${body.id}/explain`);
    expect(answer.body.reasons).toMatchObject([
      {
        code: 'no_capable_agent',
        facts: {
          missingCapabilities: ['b'],
          nearest: [{ id: two.id, missing: ['b'] }, { missing: ['b', 'c'] }],
        },
      },
    ]);
  });

  it('a ready task names the state of its capable agents', async () => {
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
    expect(reasons).toHaveLength(4);
    expect(agentsOf('agents_full')).toEqual([full.id]);
    expect(agentsOf('agents_draining')).toEqual([draining.id]);
    expect(agentsOf('agents_in_error')).toEqual([lost.id]);
    expect(agentsOf('agents_offline')).toEqual([silent.id]);
    const fullReason = reasons.find(({ code }) => code === 'agents_full');
    expect(fullReason?.facts).toMatchObject({ agents: [{ liveRuns: 1, maxConcurrentTasks: 1 }] });
  });

  it('a ready task in the queue names its position', async () => {
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
  it('a dependent task names its dependencies and their policies', async () => {
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

  it('a dependent task names the ends of its chains once each, unsuccessful ones first', async () => {
    const make = (title: string, dependsOn: string[] = []) =>
      create({ title, requiredCapabilities: [unique()], dependsOn });
    const [ready, failed] = [await make('ready'), await make('failed')];
    const [left, right] = [await make('left', [ready, failed]), await make('right', [failed])];
    const middle = await make('middle', [left]);
    const id = await make('last', [middle, right, ready]);
    await workspace.api.post(`/agent-tasks/${failed}/cancel`);
    const furtherUp = async (taskId: string) =>
      (await explain(taskId)).reasons
        .filter(({ code }) => code === 'waiting_further_up')
        .map(({ facts }) => facts);
    // "ready" is already named as a dependency of its own.
    const facts = { title: 'failed', status: 'ABORTED', retryAt: null };
    expect(await furtherUp(id)).toEqual([{ taskId: failed, ...facts }]);
    expect(await furtherUp(middle)).toMatchObject([{ taskId: failed }, { taskId: ready }]);
    expect(await furtherUp(left)).toEqual([]);
  });

  it('a dependent task lists the first of many dependencies and counts the rest', async () => {
    const dependsOn = await Promise.all(
      Array.from({ length: 103 }, () => create({ requiredCapabilities: [unique()] })),
    );
    const { reasons } = await explain(
      await create({ dependsOn, requiredCapabilities: [unique()] }),
    );
    expect(reasons.filter(({ code }) => code === 'waiting_for_dependency')).toHaveLength(100);
    expect(reasons.find(({ code }) => code === 'waiting_for_more_dependencies')?.facts).toEqual({
      count: 3,
    });
  });
});

describe('a pause', () => {
  it('a pause is named with author, reason and end, and one that does not apply is not', async () => {
    const { api, userId, newAgent } = await server.newWorkspace();
    await newAgent();
    const task = { title: 'A task', taskType: 'held' };
    const { body } = await api.post<{ id: string }>('/agent-tasks', task);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const held = { scope: 'task_type', taskType: 'held', reason: 'No licence', until };
    const ids: string[] = [];
    for (const wanted of [
      held,
      { ...held, taskType: 'other' },
      { scope: 'workspace', reason: 'Moving' },
    ]) {
      const made = await api.post<{ id: string }>('/pauses', wanted);
      expect(made.status).toBe(201);
      ids.push(made.body.id);
    }
    const path = `/agent-tasks/${body.id}/explain`;
    const { reasons, estimate } = (await api.get<Explanation>(path)).body;
    expect(reasons).toMatchObject([
      { code: 'held_by_pause', facts: { id: ids[2], scope: 'workspace', until: null } },
      {
        code: 'held_by_pause',
        facts: {
          id: ids[0],
          scope: 'task_type',
          taskType: 'held',
          reason: 'No licence',
          until,
          by: `user:${userId}`,
          byName: expect.any(String),
          since: expect.any(String),
        },
      },
    ]);
    expect(estimate.unknownBecause).toBe('paused');
    await api.delete(`/pauses/${ids[0]}`);
    await api.delete(`/pauses/${ids[2]}`);
    const after = (await api.get<Explanation>(path)).body;
    expect(codesOf(after)).toEqual(['waiting_for_claim']);
  });
});

describe('the estimate', () => {
  /**
   * Tasks of a type that took 100, 110 ... 200 s each, and waited 0, 1 ... 10 s. `alike` has their
   * command.
   */
  async function aHistory(taskType: string, alike: string | null = null): Promise<void> {
    const agent = await workspace.newAgent({ lifecycle: 'TERMINATED' });
    await server.db.owner.query(
      `INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, agent_id, ready_at,
         assigned_at, started_at, completed_at, command_kind)
       SELECT $1, uuidv7(), 'Done', $2, 'COMPLETED', $3, at, at + i * interval '1 s',
         at + i * interval '1 s', at + (100 + i * 11) * interval '1 s',
         (SELECT command_kind FROM agent_tasks WHERE id = $4)
       FROM (SELECT i, now() - interval '1 day' AS at FROM generate_series(0, 10) i) done`,
      [workspace.id, taskType, agent.id, alike],
    );
  }
  const secondsAfter = (at: string, range: Range | null) =>
    [range?.p50, range?.p90].map((time) => (Date.parse(time ?? '') - Date.parse(at)) / 1_000);

  it('the estimate of a waiting task uses its kind and its position', async () => {
    const requiredCapabilities = [unique()];
    const taskType = unique();
    await aHistory(taskType);
    const agent = await workspace.newAgent({ capabilities: requiredCapabilities });
    const next = await create({ taskType, requiredCapabilities });
    const soon = await explain(next);
    expect(soon.estimate).toMatchObject({
      unknownBecause: null,
      basis: {
        completedTasks: 11,
        durationSeconds: { p50: 150, p90: 190 },
        waitSeconds: { p50: 5, p90: 9 },
        ahead: 0,
        places: { all: 1, free: 1 },
      },
    });
    // It is handed over within 5 s, whatever the waits.
    expect(secondsAfter(soon.at, soon.estimate.start)).toEqual([5, 5]);
    const [soon50 = 0, soon90 = 0] = secondsAfter(soon.at, soon.estimate.end);
    expect(soon50).toBeCloseTo(155, -1);
    expect(soon90).toBeCloseTo(198, -1);

    const last = await create({ taskType, requiredCapabilities });
    const claimed = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
      `/agents/${agent.id}/claim`,
    );
    const behind = await explain(last);
    expect(behind.estimate.basis).toMatchObject({ ahead: 0, places: { all: 1, free: 0 } });
    const [behind50 = 0] = secondsAfter(behind.at, behind.estimate.start);
    expect(behind50).toBeGreaterThan(140);
    expect(behind50).toBeLessThan(165);
    await agent.api.post(`/runs/${claimed.body.tasks[0]?.run.id}/start`);
    const running = await explain(next);
    expect(running.estimate.unknownBecause).toBeNull();
    const [ends50 = 0] = secondsAfter(running.estimate.start?.p50 ?? '', running.estimate.end);
    expect(ends50).toBeGreaterThan(140);
    expect(ends50).toBeLessThan(160);
  });

  it('the estimate of a command uses tasks of the same command, before and behind it too', async () => {
    const requiredCapabilities = [unique()];
    const agent = { capabilities: ['command', ...requiredCapabilities] };
    await workspace.newAgent(agent);
    const run = (...command: string[]) =>
      create({ taskType: 'command', requiredCapabilities, inputContext: { command } });
    const [slow, quick] = [
      ['npm', 'run', unique()],
      ['sleep', '1'],
    ];
    const first = await run(...slow);
    await aHistory('command', first);
    expect((await explain(first)).estimate).toMatchObject({
      basis: { completedTasks: 11, durationSeconds: { p50: 150 } },
    });
    const next = await run('/usr/bin/npm', ...slow.slice(1));
    const { at, estimate } = await explain(next);
    expect(estimate).toMatchObject({ basis: { completedTasks: 11, ahead: 1 } });
    expect(secondsAfter(at, estimate.start)[0]).toBeGreaterThan(140);
    const after = await run(...quick, unique());
    expect((await explain(after)).estimate).toMatchObject({ unknownBecause: 'no_history' });
    await workspace.api.post('/agent-tasks/bulk/cancel', { ids: [first, next, after] });
  });

  it('the estimate of a dependent task uses those of its dependencies', async () => {
    const requiredCapabilities = [unique()];
    const taskType = unique();
    await aHistory(taskType);
    const agent = await workspace.newAgent({ capabilities: requiredCapabilities });
    const values = { taskType, requiredCapabilities };
    const first = await create(values);
    const second = await create({ ...values, dependsOn: [first] });
    const third = await create({ ...values, dependsOn: [first, second] });
    await agent.api.post(`/agents/${agent.id}/claim`);
    const explanation = await explain(third);
    expect(explanation.estimate).toMatchObject({ unknownBecause: null, basis: { after: 2 } });
    // Two of 100 to 200 s, and twice a wait of 0 to 10 s.
    const [p50 = 0, p90 = 0] = secondsAfter(explanation.at, explanation.estimate.start);
    expect(p50).toBeCloseTo(310, -2);
    expect(p90).toBeGreaterThan(p50 + 20);
    expect(p90).toBeLessThan(450);

    await workspace.api.post(`/agent-tasks/${second}/pause`);
    expect((await explain(third)).estimate.unknownBecause).toBe('waiting_for_dependency');
  });

  it('an estimate is missing, with the reason, without observations of its kind', async () => {
    const requiredCapabilities = [unique()];
    await workspace.newAgent({ capabilities: requiredCapabilities });
    const { estimate } = await explain(await create({ taskType: unique(), requiredCapabilities }));
    expect(estimate).toMatchObject({ start: null, end: null, unknownBecause: 'no_history' });
  });
});

it('the explanation follows a task through its life', async () => {
  const requiredCapabilities = [unique()];
  const id = await create({ requiredCapabilities, retryBackoffSeconds: 3600 });
  const agent = await workspace.newAgent({ capabilities: requiredCapabilities });
  const codes: string[][] = [];
  const note = async () => codes.push(codesOf(await explain(id)));

  await workspace.api.post(`/agent-tasks/${id}/pause`, { reason: 'lunch' });
  await note();
  const [pause] = (await explain(id)).reasons;
  const by = `user:${workspace.userId}`;
  expect(pause?.facts).toMatchObject({ by, byName: 'A user', reason: 'lunch' });
  expect(pause?.message).toContain(`paused by A user (${by}) at`);
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
