import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '#lib/database';
import { Logger } from '#lib/observability';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { aProject } from '../../../../test/support/factories.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { commandKindOf } from '../domain/command-kind.js';
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
  command?: readonly string[];
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
    command,
  } = done;
  const values = { status: 'COMPLETED', taskType, projectId } as const;
  const id = await aTask(server.db.owner, workspace.id, values);
  await sql(
    `UPDATE agent_tasks SET estimated_complexity = $2, estimated_tokens = $3,
       command_kind = $4 WHERE id = $1`,
    id,
    complexity ?? null,
    estimated,
    commandKindOf({ taskType, inputContext: { command } }),
  );
  await sql(
    `INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, state, lease_seconds,
      lease_expires_at,
       started_at, ended_at, end_reason, used_tokens, used_cost_usd)
     SELECT $1, uuidv7(), $2, $3, u.n, 'COMPLETED', 180, now(), now(), now(), 'completed', u.used,
       $5
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
  it('an estimate comes from client, complexity or default, and is stored', async () => {
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

  it('an estimate follows its sources, and a removed estimate is computed again', async () => {
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

  it('the estimate of a command follows tasks of the same command, not of its type', async () => {
    const taskType = 'command';
    const run = (...command: string[]) => create({ taskType, inputContext: { command } });
    const other = ['sleep', '1'];
    for (let n = 0; n < 5; n++) {
      await aDoneTask({ taskType, command: ['npm', 'test'], used: [700] });
    }
    for (let n = 0; n < 4; n++) await aDoneTask({ taskType, command: other, used: [1] });
    // A command that runs often must not hide the others.
    const often = await aDoneTask({ taskType, command: ['poll'], used: [1] });
    const { rows: columns } = await sql(
      `SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
       WHERE table_name = 'agent_tasks' AND is_generated = 'NEVER' AND column_name <> 'id'`,
    );
    const names = String(columns[0]?.['names']);
    await sql(
      `INSERT INTO agent_tasks (id, ${names})
       SELECT uuidv7(), ${names} FROM agent_tasks, generate_series(1, 500) WHERE id = $1`,
      often,
    );
    await learn();
    const found = [await run('/usr/bin/npm', 'test'), await run(...other), await run('ls')];
    expect(found.map(estimateOf)).toEqual([
      ['700', 'history', null],
      ['8970', 'default', null],
      ['8970', 'default', null],
    ]);
    const patch = async (estimatedComplexity: number | null) => {
      const path = `/agent-tasks/${found[0]?.id}`;
      return estimateOf((await workspace.api.patch<Body>(path, { estimatedComplexity })).body);
    };
    expect(await patch(1)).toEqual(['1794', 'complexity', 1]);
    expect(await patch(null)).toEqual(['700', 'history', null]);
  });

  it('an estimate follows similar tasks of its project, else of its type', async () => {
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
      `SELECT project_id, factor, median_used, samples FROM estimate_calibrations WHERE
        workspace_id = $1 ORDER BY samples`,
      workspace.id,
    );
    expect(rows).toEqual([
      { project_id: projectId, factor: '0.5000', median_used: '897', samples: 5 },
      { project_id: null, factor: '0.5000', median_used: '5000', samples: 11 },
    ]);
  });
});

describe('calibration', () => {
  it('sums beyond 64 bits give the largest estimate that a client can give', async () => {
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
  it('the report compares estimates with usage, by type and project and in total', async () => {
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

  it('costs list each task and each project, page by page', async () => {
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

  it('failed work is part of the cost per outcome of a project, in a column of its own', async () => {
    const projectId = await aProject(server.db.owner, workspace.id);
    await aDoneTask({ projectId, used: [1_000] });
    const failed = await aDoneTask({ projectId, used: [9_000] });
    await server.db.owner.query(
      `UPDATE agent_tasks SET status = 'FAILED', failed_at = completed_at, completed_at = NULL,
         failure_reason = 'exit_code' WHERE id = $1`,
      [failed],
    );
    const path = '/usage/costs?groupBy=project';
    expect((await workspace.api.get(path)).body['items']).toMatchObject([
      {
        projectId,
        tasks: 1,
        failedTasks: 1,
        runs: 2,
        usedTokens: '10000',
        failedTokens: '9000',
        tokensPerOutcome: '10000',
        tokenQuantiles: { p10: '1000', p50: '1000', p90: '1000' },
      },
    ]);
    for (const tokens of [2_000, 3_000])
      await aDoneTask({ projectId, used: [tokens], costUsd: '0.25' });
    expect((await workspace.api.get(path)).body['items']).toMatchObject([
      {
        tasks: 3,
        tokensPerOutcome: '5000',
        costUsdPerOutcome: '0.166666666667',
        tokenQuantiles: { p10: '1000', p50: '2000', p90: '3000' },
        costUsdQuantiles: { p10: '0', p50: '0.25', p90: '0.25' },
      },
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
