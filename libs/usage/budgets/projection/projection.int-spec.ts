import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { aProject } from '../../../../test/support/factories.js';
import { aTask } from '../../../../test/support/task-factories.js';

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
    `INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, state, lease_seconds,
      lease_expires_at,
       assigned_at, started_at, ended_at, end_reason)
     VALUES ($1, $2, $3, $4, 1, 'COMPLETED', 180, now(), now() - make_interval(hours => $5),
       now(), now(), 'completed')`,
    workspace.id,
    runId,
    taskId,
    agent.id,
    hoursAgo,
  );
  await sql(
    `WITH charged AS (UPDATE usage_budgets SET consumed = consumed + $6::bigint
       WHERE workspace_id = $1 AND (project_id IS NULL OR project_id = $7))
     INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, project_id, model,
       input_tokens,
       output_tokens, cache_read_tokens, cache_write_tokens, logged_at)
     VALUES ($1, $2, 'r', $3, $4, $7, 'm', $6::bigint, 0, 0, 0, now() - make_interval(hours =>
       $5))`,
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
  it('a projection follows the usage in the scope of its budget', async () => {
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

  it('a projection without usage has nulls', async () => {
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

  it('a workspace is throttled, explains it, and is released after a raise', async () => {
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

  it('a throttled project does not throttle other projects', async () => {
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
    'one claim of many tasks cannot exceed the throttle of its %s',
    async (scope) => {
      const projectId = await aProject(server.db.owner, workspace.id);
      const budgetId = await aBudget(1_000_000, scope === 'project' ? projectId : undefined);
      for (let count = 0; count < 5; count++) await create({ projectId, estimatedTokens: 1 });
      await sql(
        `INSERT INTO workspace_throttles (workspace_id, project_id, budget_id, max_runs, reason)
          SELECT workspace_id, project_id, id, 3, 'THROTTLE'
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
