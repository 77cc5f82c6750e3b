import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import {
  sharedServer,
  type TestAgent,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { waitFor } from '../../../../test/support/wait-for.js';

const [ESTIMATE, DAY_MS] = [8970, 86_400_000];

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
});
afterAll(() => server.stop());

type Amount = 'allocated' | 'reserved' | 'consumed' | 'available';
interface Budget extends Record<'id' | Amount, string> {
  version: number;
  code?: string;
}
interface Claimed {
  tasks: { task: { id: string }; run: { id: string } }[];
  reason?: string;
}

type Held = Record<'taskId' | 'runId', string>;

const sql = (text: string) => server.db.owner.query(text);
const iso = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const period = { periodStart: iso(-1), periodEnd: iso(30) };

async function makeBudget(values: Record<string, unknown>): Promise<Budget> {
  const body = { scope: 'global', ...period, ...values };
  const answer = await workspace.api.post<Budget>('/budgets', body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

async function read({ id }: Budget): Promise<Budget> {
  return (await workspace.api.get<Budget>(`/budgets/${id}`)).body;
}

async function makeTask(values: Record<string, unknown> = {}): Promise<string> {
  const task = { title: 'A task', taskType: 'development', ...values };
  const { body } = await workspace.api.post<{ id: string }>('/agent-tasks', task);
  return body.id;
}

async function anAgent(maxConcurrentTasks = 100): Promise<TestAgent> {
  const agent = await workspace.newAgent();
  const body = { name: 'An agent', maxConcurrentTasks };
  expect((await workspace.api.put(`/agents/${agent.id}`, body)).status).toBe(200);
  return agent;
}

async function claim(agent: TestAgent, values: Record<string, unknown> = {}): Promise<Claimed> {
  const answer = await agent.api.post<Claimed>(`/agents/${agent.id}/claim`, values);
  expect(answer.status).toBe(200);
  return answer.body;
}

async function hold(agent: TestAgent): Promise<Held> {
  const { tasks } = await claim(agent);
  const [first] = tasks;
  if (!first) throw new Error('There was nothing to claim.');
  return { taskId: first.task.id, runId: first.run.id };
}

const use = (id: string, tokens: number, values: Record<string, unknown> = {}) => ({
  id,
  model: 'claude-sonnet-4',
  inputTokens: tokens,
  outputTokens: 0,
  ...values,
});

describe('a budget', () => {
  it('two budgets of a scope cannot overlap', async () => {
    const budget = await makeBudget({ allocated: '9007199254740993' });
    expect(budget).toMatchObject({
      scope: 'global',
      scopeId: workspace.id,
      scopeName: null,
      percentUsed: 0,
      allocated: '9007199254740993',
      available: '9007199254740993',
      isActive: true,
    });
    const again = { scope: 'global', allocated: 1, periodStart: iso(29), periodEnd: iso(60) };
    expect(await workspace.api.post('/budgets', again)).toMatchObject({
      status: 409,
      body: { code: 'budget_period_taken' },
    });
    const later = { periodStart: period.periodEnd, periodEnd: iso(60) };
    const next = await makeBudget({ allocated: 1, ...later });
    expect(next).toMatchObject({ isActive: false });
    const listed = await workspace.api.get<{ items: Budget[] }>('/budgets?active=true');
    expect(listed.body.items.map(({ id }) => id)).toEqual([budget.id]);
  });

  it.each([
    [{ allocated: -1 }, 'allocated'],
    [{ allocated: '9223372036854775808' }, 'allocated'],
    [{ allocated: 1.5 }, 'allocated'],
    [{ allocated: 'NaN' }, 'allocated'],
    [{ allocated: 2 ** 53 }, 'allocated'],
    [{ allocated: 1, periodEnd: period.periodStart }, 'periodEnd'],
    [{ allocated: 1, scope: 'project' }, 'scopeId'],
    [{ allocated: 1, scopeId: newId() }, 'scopeId'],
    [{ allocated: 1, policy: 'hope' }, 'policy'],
  ])('is not made of %j', async (values, field) => {
    const body = { scope: 'global', ...period, ...values };
    expect(await workspace.api.post('/budgets', body)).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field }] },
    });
    expect((await workspace.api.get<{ items: [] }>('/budgets')).body.items).toEqual([]);
  });

  it('a budget cannot cover a project, milestone or task of another workspace', async () => {
    const other = await server.newWorkspace();
    const { body: project } = await other.api.post<{ id: string }>('/projects', { name: 'Theirs' });
    const { body: milestone } = await other.api.post<{ id: string }>(
      `/projects/${project.id}/milestones`,
      { name: 'Theirs' },
    );
    const task = await other.api.post<{ id: string }>('/agent-tasks', {
      title: 'T',
      taskType: 't',
    });
    for (const [scope, { id }] of Object.entries({ project, milestone, task: task.body })) {
      const body = { scope, scopeId: id, allocated: 1, ...period };
      expect(await workspace.api.post('/budgets', body)).toMatchObject({
        status: 404,
        body: { code: `${scope}_not_found` },
      });
    }
  });

  it('a change with an old version is refused', async () => {
    const budget = await makeBudget({ allocated: 10 });
    const change = { allocated: 20, policy: 'finish' };
    const headers = { 'if-match': '"7"' };
    const path = `/budgets/${budget.id}`;
    expect(await workspace.api.patch(path, change, headers)).toMatchObject({ status: 412 });
    expect(await workspace.api.patch(path, change)).toMatchObject({
      status: 200,
      body: { allocated: '20', policy: 'finish', version: 2 },
    });
  });
});

describe('a claim', () => {
  it('a run holds the estimate of its task from every budget until it ends', async () => {
    const { body: project } = await workspace.api.post<{ id: string }>('/projects', { name: 'P' });
    const taskId = await makeTask({ projectId: project.id });
    const budgets = [
      await makeBudget({ allocated: 100_000 }),
      await makeBudget({ allocated: 90_000, scope: 'project', scopeId: project.id }),
      await makeBudget({ allocated: 80_000, scope: 'task', scopeId: taskId }),
    ];
    const elsewhere = await makeBudget({ allocated: 1, scope: 'task', scopeId: await makeTask() });
    const agent = await anAgent();
    const { runId } = await hold(agent);
    for (const budget of budgets) expect(await read(budget)).toMatchObject({ reserved: '8970' });
    expect(await read(elsewhere)).toMatchObject({ reserved: '0', scopeName: 'A task' });
    const { body } = await workspace.api.get<{ items: unknown[] }>(`/agent-tasks/${taskId}/runs`);
    expect(body.items).toMatchObject([
      { budgetIds: expect.arrayContaining(budgets.map(({ id }) => id)), heldTokens: '8970' },
    ]);
    expect((await agent.api.post(`/runs/${runId}/complete`)).status).toBe(200);
    for (const budget of budgets) expect(await read(budget)).toMatchObject({ reserved: '0' });
  });

  it('a task waits for tokens of its budget, explains it, and runs after a raise', async () => {
    const budget = await makeBudget({ allocated: 2 * ESTIMATE + 1 });
    await Promise.all([makeTask(), makeTask(), makeTask()]);
    const agent = await anAgent();
    expect((await claim(agent, { maxTasks: 10 })).tasks).toHaveLength(2);
    expect(await claim(agent)).toEqual({ tasks: [], reason: 'budget' });
    const { body: list } = await workspace.api.get<{ items: Budget[] }>(
      '/agent-tasks?status=PENDING',
    );
    const waiting = list.items[0]?.id ?? '';
    const { body } = await workspace.api.get(`/agent-tasks/${waiting}/explain`);
    expect(body).toMatchObject({
      reasons: expect.arrayContaining([
        expect.objectContaining({
          code: 'budget',
          facts: expect.objectContaining({ budgetId: budget.id, available: '1', needed: '8970' }),
        }),
      ]),
    });
    const claiming = claim(agent, { waitMs: 20_000 });
    const raised = { allocated: 3 * ESTIMATE };
    expect((await workspace.api.patch(`/budgets/${budget.id}`, raised)).status).toBe(200);
    expect((await claiming).tasks).toMatchObject([{ task: { id: waiting } }]);
    expect(await read(budget)).toMatchObject({ available: '0' });
  });

  it.each([1, 50])(
    '200 concurrent claims of up to %i tasks never hold more than the budget',
    async (maxTasks) => {
      const budget = await makeBudget({ allocated: 37 * ESTIMATE + 100 });
      const tasks = Array.from({ length: 300 }, () => ({ title: 'T', taskType: 't' }));
      for (const at of [0, 100, 200])
        await workspace.api.post('/agent-tasks/batch', { tasks: tasks.slice(at, at + 100) });
      const agents = await Promise.all(Array.from({ length: 20 }, () => anAgent()));
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, n) => claim(agents[n % 20] as TestAgent, { maxTasks })),
      );
      let claimed = answers.flatMap((answer) => answer.tasks).length;
      expect(claimed).toBeLessThanOrEqual(37);
      // Tasks that were tried together with others that did not fit come again.
      for (const agent of agents) claimed += (await claim(agent, { maxTasks: 50 })).tasks.length;
      expect(claimed).toBe(37);
      expect(await read(budget)).toMatchObject({
        reserved: String(37 * ESTIMATE),
        available: '100',
      });
    },
  );

  it('a claim that waits for a changing budget sees its new allocation', async () => {
    const budget = await makeBudget({ allocated: ESTIMATE });
    await makeTask();
    const agent = await anAgent();
    const other = await server.db.owner.connect();
    await other.query('BEGIN');
    await other.query('UPDATE usage_budgets SET allocated = allocated - 1 WHERE id = $1', [
      budget.id,
    ]);
    const claimed = claim(agent);
    await waitFor('the claim at the budget', async () => {
      const { rows } = await server.db.owner.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type =
          'Lock'`,
      );
      return rows.length > 0;
    });
    await other.query('COMMIT');
    other.release();
    expect(await claimed).toEqual({ tasks: [], reason: 'budget' });
    expect(await read(budget)).toMatchObject({ reserved: '0', available: '8969' });
  });

  it.each([
    ['completes', (agent: TestAgent, { runId }: Held) => agent.api.post(`/runs/${runId}/complete`)],
    [
      'fails',
      (agent: TestAgent, { runId }: Held) =>
        agent.api.post(`/runs/${runId}/fail`, { error: { message: 'on purpose' } }),
    ],
    [
      'is released',
      (agent: TestAgent, { runId }: Held) => agent.api.post(`/runs/${runId}/release`),
    ],
    [
      'is cancelled',
      (_: TestAgent, { taskId }: Held) => workspace.api.post(`/agent-tasks/${taskId}/cancel`),
    ],
    [
      'loses its agent',
      (agent: TestAgent) =>
        workspace.api.post(`/agents/${agent.id}/terminate`, { graceful: false }),
    ],
  ])('a run that %s holds nothing', async (_, end) => {
    const budget = await makeBudget({ allocated: 100_000 });
    await makeTask();
    const agent = await anAgent();
    const held = await hold(agent);
    expect(await read(budget)).toMatchObject({ reserved: '8970' });
    expect((await end(agent, held)).status).toBeLessThan(300);
    expect(await read(budget)).toMatchObject({ reserved: '0', available: '100000' });
  });
});

describe('usage', () => {
  it('usage is charged once, from the hold of a live run or after its end', async () => {
    const budget = await makeBudget({ allocated: 100_000 });
    await makeTask();
    const agent = await anAgent();
    const { runId, taskId } = await hold(agent);
    const path = `/runs/${runId}/usage`;
    const operation = `${'o'.repeat(89)} token=abcd`;
    const first = use('one', 1_000, {
      operation,
      outputTokens: '500',
      cacheReadTokens: 400,
      cacheWriteTokens: 100,
    });
    expect(await agent.api.post(path, { reports: [first] })).toMatchObject({
      status: 200,
      body: {
        runId,
        accepted: 1,
        repeated: 0,
        advice: 'continue',
        budgets: [{ budgetId: budget.id, consumed: '2000', reserved: '6970', percentUsed: 2 }],
      },
    });
    const both = { reports: [first, use('two', 3_000)] };
    expect(await agent.api.post(path, both)).toMatchObject({ body: { accepted: 1, repeated: 1 } });
    expect(await read(budget)).toMatchObject({ consumed: '5000', reserved: '3970' });
    const other = { reports: [use('two', 3_001), use('three', 1)] };
    expect(await agent.api.post(path, other)).toMatchObject({
      status: 409,
      body: { code: 'usage_report_conflict' },
    });
    const end = { usage: [use('four', 1_000)] };
    expect((await agent.api.post(`/runs/${runId}/complete`, end)).status).toBe(200);
    expect(await read(budget)).toMatchObject({ consumed: '6000', reserved: '0' });
    const late = { reports: [use('five', 500)], runId };
    expect((await agent.api.post(`/agent-tasks/${taskId}/usage`, late)).status).toBe(200);
    expect((await agent.api.post(`/agent-tasks/${taskId}/usage`, late)).status).toBe(200);
    expect(await read(budget)).toMatchObject({ consumed: '6500', reserved: '0' });
    const { body } = await workspace.api.get<{ items: unknown[] }>(`/agent-tasks/${taskId}/runs`);
    expect(body.items).toMatchObject([{ usedTokens: '6500', heldTokens: '0' }]);
  });

  it('usage beyond the hold grows it while tokens are left, then advises to stop', async () => {
    const budget = await makeBudget({ allocated: 12_000 });
    await makeTask();
    const agent = await anAgent();
    const { runId } = await hold(agent);
    const report = async (...used: [id: string, tokens: number]) => {
      const body = { reports: [use(...used)] };
      return (await agent.api.post<{ advice: string }>(`/runs/${runId}/usage`, body)).body.advice;
    };
    expect(await report('one', 9_000)).toBe('continue');
    expect(await read(budget)).toMatchObject({ consumed: '9000', reserved: '2242' });
    expect(await report('two', 2_300)).toBe('warn');
    expect(await read(budget)).toMatchObject({ consumed: '11300', reserved: '0' });
    expect(await report('three', 1_000)).toBe('stop');
    expect(await read(budget)).toMatchObject({ consumed: '12300', available: '-300' });
  });

  it('usage before a budget was created counts in its period', async () => {
    await makeTask();
    const agent = await anAgent();
    const { runId } = await hold(agent);
    await agent.api.post(`/runs/${runId}/usage`, { reports: [use('one', 700)] });
    expect(await makeBudget({ allocated: 1_000 })).toMatchObject({ consumed: '700' });
  });

  it.each([
    [{ inputTokens: -1 }, 'reports[0].inputTokens'],
    [{ inputTokens: 1.5 }, 'reports[0].inputTokens'],
    [{ inputTokens: '1e3' }, 'reports[0].inputTokens'],
    [{ outputTokens: 10 ** 13 }, 'reports[0].outputTokens'],
    [{ costUsd: -1 }, 'reports[0].costUsd'],
    [{ costUsd: 'NaN' }, 'reports[0].costUsd'],
    [{ id: '' }, 'reports[0].id'],
  ])('is refused with %j', async (values, field) => {
    await makeTask();
    const agent = await anAgent();
    const { runId } = await hold(agent);
    const body = { reports: [use('one', 1, values)] };
    expect(await agent.api.post(`/runs/${runId}/usage`, body)).toMatchObject({
      status: 400,
      body: { errors: [{ field }] },
    });
  });

  it('usage that would overflow the sums is refused and changes nothing', async () => {
    const budget = await makeBudget({ allocated: 1 });
    await makeTask();
    const agent = await anAgent();
    await sql('UPDATE agent_tasks SET estimated_tokens = 0');
    const { runId } = await hold(agent);
    const refused = { status: 400, body: { detail: expect.stringMatching(/too large/) } };
    const report = { reports: [use('one', 1_000_000)] };
    for (const table of ['usage_budgets SET consumed =', 'task_runs SET used_tokens =']) {
      await sql(`UPDATE ${table} 9223372036854775807`);
      expect(await agent.api.post(`/runs/${runId}/usage`, report)).toMatchObject(refused);
      await sql(`UPDATE ${table} 0`);
    }
    await sql('UPDATE task_runs SET used_cost_usd = 999999999999');
    const end = { usage: report.reports };
    expect(await agent.api.post(`/runs/${runId}/complete`, end)).toMatchObject(refused);
    expect(await read(budget)).toMatchObject({ consumed: '0', reserved: '0' });
  });

  it('an agent cannot report usage of the run of another agent', async () => {
    await makeTask();
    const { runId } = await hold(await anAgent());
    const other = await anAgent();
    const body = { reports: [use('one', 1)] };
    expect(await other.api.post(`/runs/${runId}/usage`, body)).toMatchObject({
      status: 404,
      body: { code: 'run_not_found' },
    });
  });
});

describe('the check before a commit', () => {
  it('the check returns hold, usage and advice', async () => {
    await makeBudget({ allocated: 10_000 });
    await makeTask();
    const agent = await anAgent();
    const { runId, taskId } = await hold(agent);
    await agent.api.post(`/runs/${runId}/usage`, { reports: [use('one', 3_000)] });
    const path = `/runs/${runId}/budget`;
    expect((await agent.api.get(`${path}?linesChanged=9`)).body).toEqual({
      runId,
      taskId,
      isLive: true,
      estimatedTokens: '8970',
      heldTokens: '5970',
      usedTokens: '3000',
      usedCostUsd: '0.009',
      taskUsedTokens: '3000',
      advice: 'warn',
      message: expect.stringMatching(/^30 % of the budget of its workspace .* go on. The task has/),
      efficiency: { linesChanged: 9, expectedTokens: '1350', ratio: 0.45, isEfficient: false },
      budgets: [expect.objectContaining({ consumed: '3000', reserved: '5970' })],
    });
    const { body } = await agent.api.get(path);
    expect(body).toMatchObject({ advice: 'continue', efficiency: null });
    expect((await (await anAgent()).api.get(path)).status).toBe(404);
  });
});

describe('reallocation', () => {
  it('a reallocation moves at most the available tokens', async () => {
    const from = await makeBudget({ allocated: 20_000 });
    const { body: project } = await workspace.api.post<{ id: string }>('/projects', { name: 'P' });
    const to = await makeBudget({ allocated: 5, scope: 'project', scopeId: project.id });
    await makeTask();
    await hold(await anAgent());
    const path = `/budgets/${from.id}/reallocate`;
    const move = (amount: number, id = to.id) => workspace.api.post(path, { to: id, amount });
    expect(await move(11_031)).toMatchObject({
      status: 409,
      body: { code: 'budget_exceeded', available: '11030' },
    });
    expect(await move(11_030, to.id.toUpperCase())).toMatchObject({
      status: 200,
      body: { from: { allocated: '8970', available: '0' }, to: { allocated: '11035' } },
    });
    const detail = expect.stringMatching(/^No tokens of this budget can be moved/);
    expect(await move(1)).toMatchObject({ status: 409, body: { detail } });
    expect(await move(1, newId())).toMatchObject({ status: 404 });
    expect(await move(0)).toMatchObject({ status: 400 });
  });
});
