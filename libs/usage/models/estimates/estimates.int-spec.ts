import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '#lib/database';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { aProject } from '../../../../test/support/factories.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { calibrateEstimates } from './calibrate.js';

type Body = Record<string, unknown>;
interface Task extends Body {
  id: string;
}

let server: TestApp;
let workspace: TestWorkspace;
let agent: TestAgent;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 10 });
});
afterAll(() => server.stop());

const sql = (text: string, ...values: unknown[]) => server.db.owner.query<Body>(text, values);

async function create(values: Body = {}): Promise<Task> {
  const body = { title: 'T', taskType: 'build', ...values };
  const answer = await workspace.api.post<Task>('/agent-tasks', body);
  expect(answer.status).toBe(201);
  return answer.body;
}

interface Done {
  taskType?: string;
  projectId?: string;
  complexity?: number;
  /** Tokens of each of its runs. */
  used: readonly number[];
  costUsd?: string;
  estimated?: number;
}

/** A task that has completed, with its runs. */
async function aDoneTask(done: Done): Promise<string> {
  const {
    taskType = 'build',
    projectId,
    complexity,
    used,
    costUsd = '0',
    estimated = 8_970,
  } = done;
  const values = { status: 'COMPLETED', taskType, projectId } as const;
  const id = await aTask(server.db.owner, workspace.id, values);
  await sql(
    `UPDATE agent_tasks SET estimated_complexity = $2, estimated_tokens = $3 WHERE id = $1`,
    id,
    complexity ?? null,
    estimated,
  );
  await sql(
    `INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, state, lease_seconds, lease_expires_at,
       started_at, ended_at, end_reason, used_tokens, used_cost_usd)
     SELECT $1, uuidv7(), $2, $3, u.n, 'COMPLETED', 180, now(), now(), now(), 'completed', u.used, $5
     FROM unnest($4::bigint[]) WITH ORDINALITY AS u (used, n)`,
    workspace.id,
    id,
    agent.id,
    used,
    costUsd,
  );
  return id;
}

const learn = () => {
  const { service } = server.app.get(Database, { strict: false });
  return calibrateEstimates(service, 3_600, Logger.create({ level: 'silent' }));
};

const estimateOf = ({ estimatedTokens, estimateSource, estimatedComplexity }: Body) => [
  estimatedTokens,
  estimateSource,
  estimatedComplexity,
];

describe('the estimate of a task', () => {
  it('is what its client says, or made by its complexity, or a default; what is shown at once is what is kept', async () => {
    const tasks = [
      await create({ estimatedTokens: 12_000 }),
      await create({ estimatedTokens: '1000000000000000', estimatedComplexity: 2 }),
      await create({ estimatedComplexity: 7 }),
      await create(),
    ];
    expect(tasks.map(estimateOf)).toEqual([
      ['12000', 'given', null],
      ['1000000000000000', 'given', 2],
      ['12558', 'complexity', 7],
      ['8970', 'default', null],
    ]);
    for (const { id, ...task } of tasks) {
      const { body } = await workspace.api.get(`/agent-tasks/${id}`);
      expect(estimateOf(body)).toEqual(estimateOf(task));
    }
    const batch = { tasks: [{ title: 'T', taskType: 'build', estimatedTokens: '0' }] };
    const { body } = await workspace.api.post<{ items: Body[] }>('/agent-tasks/batch', batch);
    expect(body.items.map(estimateOf)).toEqual([['0', 'given', null]]);
  });

  it.each([
    { estimatedTokens: -1 },
    { estimatedTokens: 1.5 },
    { estimatedTokens: 1e15 + 1 },
    { estimatedTokens: '1000000000000001' },
    { estimatedTokens: '99999999999999999999' },
    { estimatedTokens: '007' },
    { estimatedTokens: 'NaN' },
    { estimatedTokens: [5] },
    { estimatedTokens: null },
    { estimatedComplexity: 0 },
    { estimatedComplexity: 101 },
    { estimatedComplexity: 2.5 },
    { estimateSource: 'given' },
  ])('refuses %j', async (values) => {
    const body = { title: 'T', taskType: 'build', ...values };
    const answer = await workspace.api.post('/agent-tasks', body);
    expect([answer.status, answer.body['code']]).toEqual([400, 'validation_failed']);
    expect(answer.body['errors']).toMatchObject([{ field: Object.keys(values)[0] }]);
  });

  it('changes with what it is made from, and comes back when what was given is taken back', async () => {
    const { id } = await create({ estimatedComplexity: 1 });
    const patch = async (values: Body) => {
      const { status, body } = await workspace.api.patch(`/agent-tasks/${id}`, values);
      expect(status).toBe(200);
      return estimateOf(body);
    };
    expect(await patch({ estimatedComplexity: 2 })).toEqual(['3588', 'complexity', 2]);
    expect(await patch({ estimatedTokens: '77' })).toEqual(['77', 'given', 2]);
    expect(await patch({ estimatedComplexity: 3 })).toEqual(['77', 'given', 3]);
    expect(await patch({ title: 'Another' })).toEqual(['77', 'given', 3]);
    expect(await patch({ estimatedTokens: null })).toEqual(['5382', 'complexity', 3]);
    expect(await patch({ estimatedComplexity: null })).toEqual(['8970', 'default', null]);
  });

  it('learns from what such tasks used: of its project, else of all of the type', async () => {
    const projectId = await aProject(server.db.owner, workspace.id);
    // 1794 a point: the half, the same and the double of it; all runs of a task count.
    for (const half of [1, 1, 1, 2, 2]) {
      await aDoneTask({ projectId, complexity: 1, used: [297 * half, 600 * half] });
    }
    for (let n = 0; n < 6; n++) await aDoneTask({ used: [5_000] });
    await aDoneTask({ used: [0] });
    for (let n = 0; n < 4; n++) await aDoneTask({ taskType: 'rare', used: [1] });
    await learn();
    const found = [
      await create({ projectId, estimatedComplexity: 10 }),
      await create({ projectId }),
      await create({ estimatedComplexity: 10 }),
      await create(),
      await create({ taskType: 'rare' }),
    ];
    expect(found.map(estimateOf)).toEqual([
      ['8970', 'complexity', 10],
      ['897', 'history', null],
      ['8970', 'complexity', 10],
      ['5000', 'history', null],
      ['8970', 'default', null],
    ]);
    const { rows } = await sql(
      `SELECT project_id, factor, median_used, samples FROM estimate_calibrations WHERE workspace_id = $1 ORDER BY samples`,
      workspace.id,
    );
    expect(rows).toEqual([
      { project_id: projectId, factor: '0.5000', median_used: '897', samples: 5 },
      { project_id: null, factor: '0.5000', median_used: '5000', samples: 11 },
    ]);
  });
});

describe('learning', () => {
  it('takes sums beyond 64 bits, and expects no more than a client may say', async () => {
    for (let n = 0; n < 5; n++) await aDoneTask({ taskType: 'vast', used: [2 ** 62, 2 ** 62] });
    await learn();
    expect(estimateOf(await create({ taskType: 'vast' }))).toEqual([
      `${10 ** 15}`,
      'history',
      null,
    ]);
  });
});

describe('the reports', () => {
  it('compare estimates with what was used, by type and project, and in total', async () => {
    const projectId = await aProject(server.db.owner, workspace.id);
    await aDoneTask({ projectId, estimated: 100, used: [60, 60] });
    await aDoneTask({ projectId, estimated: 100, used: [121] });
    await aDoneTask({ projectId, estimated: 100, used: [] });
    await aDoneTask({ taskType: 'review', estimated: 1_000, used: [500] });
    const { status, body } = await workspace.api.get('/usage/estimates');
    expect(status).toBe(200);
    const build = {
      taskType: 'build',
      projectId,
      tasks: 3,
      unreported: 1,
      estimatedTokens: '200',
      usedTokens: '241',
      medianRatio: 1.205,
      within20Percent: 0.5,
    };
    const review = {
      taskType: 'review',
      projectId: null,
      tasks: 1,
      unreported: 0,
      estimatedTokens: '1000',
      usedTokens: '500',
      medianRatio: 0.5,
      within20Percent: 0,
    };
    expect(body).toMatchObject({
      total: {
        tasks: 4,
        unreported: 1,
        estimatedTokens: '1200',
        usedTokens: '741',
        medianRatio: 1.2,
        within20Percent: 0.3333,
      },
      items: [build, review],
      more: false,
    });
    const before = await workspace.api.get('/usage/estimates?to=2020-01-01T00:00:00Z');
    expect(before.body).toMatchObject({ total: { tasks: 0, medianRatio: null }, items: [] });
  });

  it('tell what each task and each project cost, page by page', async () => {
    const projectId = await aProject(server.db.owner, workspace.id);
    const costUsd = '0.000000000125';
    const ids = [
      await aDoneTask({ used: [10, 5], costUsd }),
      await aDoneTask({ projectId, used: [7], costUsd: '12345678901.5' }),
      await aDoneTask({ projectId, used: [8], costUsd }),
    ];
    const pages = async (query: string) => {
      const items: Body[] = [];
      for (let cursor: unknown = ''; cursor !== null;) {
        const after = cursor === '' ? '' : `&cursor=${cursor as string}`;
        const { status, body } = await workspace.api.get(`/usage/costs?limit=1${query}${after}`);
        expect(status).toBe(200);
        items.push(...(body['items'] as Body[]));
        cursor = body['nextCursor'];
      }
      return items;
    };
    expect(await pages('')).toMatchObject([
      { taskId: ids[2], projectId, projectName: expect.any(String), usedTokens: '8', costUsd },
      { taskId: ids[1], runs: 1, usedTokens: '7', costUsd: '12345678901.5' },
      { taskId: ids[0], runs: 2, tasks: 1, usedTokens: '15', costUsd: '0.00000000025' },
    ]);
    const sum = '12345678901.500000000125';
    expect(await pages('&groupBy=project')).toMatchObject([
      { projectId: null, taskId: null, tasks: 1, runs: 2, usedTokens: '15' },
      { projectId, tasks: 2, runs: 2, usedTokens: '15', costUsd: sum },
    ]);
  });

  it.each([
    'estimates?from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z',
    'costs?from=2020-01-01T00:00:00Z',
    'costs?groupBy=milestone',
    'costs?cursor=WyJ4IiwieSJd',
  ])('refuse %s', async (query) => {
    expect((await workspace.api.get(`/usage/${query}`)).status).toBe(400);
  });
});

/** A budget of a month that began ten days ago. */
async function aBudget(allocated: number, projectId: string | null = null): Promise<string> {
  const id = newId();
  await sql(
    `INSERT INTO usage_budgets (workspace_id, id, project_id, allocated, period_start, period_end)
     VALUES ($1, $2, $3, $4, now() - interval '10 days', now() + interval '20 days')`,
    workspace.id,
    id,
    projectId,
    allocated,
  );
  return id;
}

/** Usage of a run that lasts since then. */
async function use(tokens: number, hoursAgo: number, projectId: string | null = null) {
  const taskId = await aTask(server.db.owner, workspace.id, { status: 'COMPLETED' });
  const runId = newId();
  await sql(
    `INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, state, lease_seconds, lease_expires_at,
       assigned_at, started_at, ended_at, end_reason)
     VALUES ($1, $2, $3, $4, 1, 'COMPLETED', 180, now(), now() - make_interval(hours => $5), now(), now(), 'completed')`,
    workspace.id,
    runId,
    taskId,
    agent.id,
    hoursAgo,
  );
  await sql(
    `WITH charged AS (UPDATE usage_budgets SET consumed = consumed + $6::bigint
       WHERE workspace_id = $1 AND (project_id IS NULL OR project_id = $7))
     INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, project_id, model, input_tokens,
       output_tokens, cache_read_tokens, cache_write_tokens, logged_at)
     VALUES ($1, $2, 'r', $3, $4, $7, 'm', $6::bigint, 0, 0, 0, now() - make_interval(hours => $5))`,
    workspace.id,
    runId,
    taskId,
    agent.id,
    hoursAgo,
    tokens,
    projectId,
  );
}

const projection = async (id: string) => {
  const { status, body } = await workspace.api.get(`/budgets/${id}/projection`);
  expect(status).toBe(200);
  return body;
};

describe('the projection of a budget', () => {
  it('is drawn from what was used in its scope', async () => {
    const projectId = await aProject(server.db.owner, workspace.id);
    const [whole, part] = [await aBudget(3_000), await aBudget(1_000, projectId)];
    await use(100, 5, projectId);
    await use(50, 5);
    await use(1_000, 60);
    expect(await projection(whole)).toMatchObject({
      budgetId: whole,
      remainingTokens: '1850',
      availableTokens: '1850',
      dailyBurnRate: '150',
      burnRates: { lastHour: '0', lastDay: '150', period: '115' },
      daysUntilExhaustion: 12.3333,
      latestDaysUntilExhaustion: null,
      willLastPeriod: false,
      recommendation: 'CONTINUE',
      throttle: null,
    });
    expect(await projection(part)).toMatchObject({
      remainingTokens: '900',
      dailyBurnRate: '100',
      daysUntilExhaustion: 9,
    });
    const foreign = await server.newWorkspace();
    const answer = await foreign.api.get(`/budgets/${whole}/projection`);
    expect([answer.status, answer.body['code']]).toEqual([404, 'budget_not_found']);
  });

  it('has nulls where nothing is used', async () => {
    expect(await projection(await aBudget(1_000))).toMatchObject({
      dailyBurnRate: '0',
      daysUntilExhaustion: null,
      projectedExhaustionDate: null,
      earliestDaysUntilExhaustion: null,
      willLastPeriod: true,
      recommendation: 'CONTINUE',
    });
  });
});

describe('a budget that would not last', () => {
  const recover = async () => {
    const body = { workspaceId: workspace.id };
    const answer = await workspace.api.post<{ counts: Body; failedSteps: string[] }>(
      '/coordinator/recover',
      body,
    );
    expect([answer.status, answer.body.failedSteps]).toEqual([200, []]);
    return answer.body.counts['throttlesChanged'];
  };
  const claim = async () => {
    const path = `/agents/${agent.id}/claim`;
    const { body } = await agent.api.post<{ tasks: unknown[]; reason?: string }>(path, {});
    return body.reason ?? body.tasks.length;
  };
  const whyWaits = async ({ id }: Task) => {
    const { body } = await workspace.api.get<{ reasons: Body[] }>(`/agent-tasks/${id}/explain`);
    return body.reasons[0];
  };

  it('lets its workspace have fewer runs, says so, and more again when it lasts', async () => {
    const budgetId = await aBudget(1_500);
    // A run that lasted 20 hours used 300 tokens; 1,200 in 20 days are 4 of these a day.
    await use(300, 20);
    const small = { estimatedTokens: 1 };
    const tasks = [await create(small), await create(small), await create(small)];
    const claims = () => Promise.all([claim(), claim()]);
    expect(await recover()).toBe(1);
    expect(await recover()).toBe(0);
    const { body } = await workspace.api.get(`/budgets/${budgetId}/projection`);
    expect(body).toMatchObject({ recommendation: 'THROTTLE', throttle: { maxRuns: 1 } });
    expect(await claim()).toBe(1);
    expect(await claims()).toEqual(['throttled', 'throttled']);
    expect(await whyWaits(tasks[1] as Task)).toMatchObject({
      code: 'throttled',
      facts: { projectId: null, budgetId, maxRuns: 1 },
    });
    await sql(`UPDATE usage_budgets SET allocated = 1000000 WHERE id = $1`, budgetId);
    expect(await recover()).toBe(1);
    expect(await claim()).toBe(1);
  });

  it('of a project lets that project alone have fewer', async () => {
    const projectId = await aProject(server.db.owner, workspace.id);
    const budgetId = await aBudget(1_500, projectId);
    await use(300, 20, projectId);
    const small = { projectId, estimatedTokens: 1 };
    const [first, second] = [await create(small), await create(small)];
    await recover();
    expect(await claim()).toBe(1);
    expect(await claim()).toBe('throttled');
    const held = await workspace.api.get(`/agent-tasks/${(first as Task).id}`);
    expect(held.body['runId']).not.toBeNull();
    expect(await whyWaits(second as Task)).toMatchObject({
      code: 'throttled',
      facts: { projectId, budgetId },
    });
    await create();
    expect(await claim()).toBe(1);
  });

  it.each(['workspace', 'project'])(
    'lets one claim of many tasks fill a limit of its %s, no more',
    async (scope) => {
      const projectId = await aProject(server.db.owner, workspace.id);
      const budgetId = await aBudget(1_000_000, scope === 'project' ? projectId : undefined);
      for (let count = 0; count < 5; count++) await create({ projectId, estimatedTokens: 1 });
      await sql(
        `INSERT INTO workspace_throttles (workspace_id, project_id, budget_id, max_runs, reason) SELECT workspace_id, project_id, id, 3, 'THROTTLE'
       FROM usage_budgets WHERE id = $1`,
        budgetId,
      );
      const answer = await agent.api.post<{ tasks: unknown[] }>(`/agents/${agent.id}/claim`, {
        maxTasks: 50,
      });
      expect(answer.body.tasks).toHaveLength(3);
      expect(await claim()).toBe('throttled');
    },
  );
});
