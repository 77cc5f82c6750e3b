import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { checkInvariants } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { anAgent, aProject } from '../../../../test/support/factories.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { rebuildUsageRollups } from '../sums/usage-rebuild.js';
import { UsageRollup } from '../sums/usage-rollup.js';

interface Sums {
  key: string | null;
  name: string | null;
  inputTokens: string;
  totalTokens: string;
  costUsd: string | null;
  reports: number;
  reportsWithoutPrice: number;
}

let server: TestApp;
let workspace: TestWorkspace;
const undo: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  // The server runs no relay, so that only the tests add rows.
  server = await startTestApp({ ROLES: 'api' });
});

beforeEach(async () => {
  workspace = await server.newWorkspace();
});

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

afterAll(() => server.stop());

const aRollup = () => new UsageRollup(server.db.database);
const rows = async <T extends object>(text: string, values: unknown[] = []): Promise<T[]> =>
  (await server.db.owner.query<T>(text, values)).rows;

interface Report {
  taskId?: string;
  agentId?: string;
  projectId?: string | null;
  model?: string;
  tokens?: number;
  cost?: string | null;
  at?: string;
}

const AN_AGENT = newId();
const A_TASK = newId();

async function report(values: Report = {}, by: pg.Pool | pg.PoolClient = server.db.owner) {
  const { taskId = A_TASK, agentId = AN_AGENT, projectId = null, model = 'a model' } = values;
  await by.query(
    `INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, project_id, model,
      input_tokens,
       output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, logged_at)
     VALUES ($1, uuidv7(), 'r', $2, $3, $4, $5, $6, 1, 2, 3, $7, $8)`,
    [
      workspace.id,
      taskId,
      agentId,
      projectId,
      model,
      values.tokens ?? 4,
      values.cost,
      values.at ?? 'now',
    ],
  );
}

async function usage(query: string): Promise<Sums[]> {
  const { status, body } = await workspace.api.get<{ items: Sums[] }>(`/usage?${query}`);
  expect(status).toBe(200);
  return body.items;
}

const ofKey = (key: string | null, reports: number) => expect.objectContaining({ key, reports });

/** A connection whose transaction ends with the test at the latest. */
async function aWriter(): Promise<pg.PoolClient> {
  const client = await server.db.owner.connect();
  undo.push(async () => {
    await client.query('ROLLBACK');
    client.release();
  });
  await client.query('BEGIN');
  return client;
}

describe('the usage follower', () => {
  const reports = async () =>
    (await usage('groupBy=model')).reduce((sum, each) => sum + each.reports, 0);

  afterEach(async () => {
    for (const follower = aRollup(); (await follower.round()).kind !== 'idle';);
    expect((await checkInvariants(server.db.serviceUrl)).filter(({ holds }) => !holds)).toEqual([]);
  });

  it('a report that commits after a later one is added once', async () => {
    const [slow, slower] = [await aWriter(), await aWriter()];
    await report({}, slow);
    await report({}, slower);
    await report();
    const [one, other] = [aRollup(), aRollup()];
    expect(await one.round()).toMatchObject({ kind: 'held_back' });
    expect(await reports()).toBe(1);
    await slow.query('COMMIT');
    expect(await other.round()).toMatchObject({ kind: 'held_back' });
    expect(await reports()).toBe(2);
    await slower.query('COMMIT');
    expect(await reports()).toBe(3);
    // A transaction of another database can hold back a round.
    for (let kind = ''; kind !== 'idle'; { kind } = await one.round()) await other.round();
    expect(await reports()).toBe(3);
  });

  it('concurrent writers, rollbacks and followers leave each report in the sums once', async () => {
    let writing = true;
    const write = async (writer: number) => {
      const client = await server.db.owner.connect();
      for (let n = 0; n < 40; n++) {
        await client.query('BEGIN');
        for (let of = 0; of <= n % 3; of++) await report({ tokens: n }, client);
        await client.query((n + writer) % 4 === 0 ? 'ROLLBACK' : 'COMMIT');
      }
      client.release();
    };
    const follow = async (rollup: UsageRollup) => {
      while (writing) await rollup.round(7);
      for (;;) if ((await rollup.round(7)).kind === 'idle') return;
    };
    const followers = [aRollup(), aRollup()].map(follow);
    await Promise.all([1, 2, 3].map(write));
    writing = false;
    await Promise.all(followers);
    const [{ count } = { count: 0 }] = await rows<{ count: number }>(
      'SELECT count(*)::int AS count FROM agent_usage_logs WHERE workspace_id = $1',
      [workspace.id],
    );
    expect(count).toBeGreaterThan(150);
    expect(await reports()).toBe(count);
    const position = 'SELECT position::int AS position FROM usage_rollup_progress';
    const last = 'SELECT last_value::int AS position FROM agent_usage_logs_seq';
    expect(await rows(position)).toEqual(await rows(last));
  });

  it('a rebuild restores the sums of all days whose reports are kept', async () => {
    for (const at of ['2026-01-31', '2026-02-01', '2026-02-28']) await report({ at, tokens: 100 });
    // A rollup waits for transactions that are open in any database.
    for (const rollup = aRollup(); (await rollup.round()).kind !== 'idle';);
    await report({ at: '2026-02-28' });
    const before = await usage('groupBy=model&from=2026-01-01&to=2026-02-28');
    expect(before).toEqual([ofKey('a model', 4)]);
    const broken = `UPDATE usage_rollups SET reports = reports + 5, input_tokens = 1 WHERE
      workspace_id = $1`;
    await rows(broken, [workspace.id]);
    const outcomes = await checkInvariants(server.db.serviceUrl);
    const found = outcomes.find(({ name }) => name === 'usage_rollups');
    expect(found?.violations[0]?.problem).toMatch(
      /the history has \d+ reports, and there are \d+$/,
    );
    await rebuildUsageRollups(server.db.database);
    expect(await usage('groupBy=model&from=2026-01-01&to=2026-02-28')).toEqual(before);
  });
});

describe('a budget', () => {
  it('a budget cannot begin before the reports that are kept', async () => {
    const { body: old } = await workspace.api.post('/budgets', {
      scope: 'global',
      allocated: 1,
      periodStart: '2026-01-01T00:00:00Z',
      periodEnd: '2026-02-01T00:00:00Z',
    });
    await rows(`INSERT INTO usage_logs_kept VALUES ($1, '2026-03-01')`, [workspace.id]);
    const refused = {
      status: 400,
      body: { errors: [{ field: 'periodStart', message: expect.stringMatching(/2026-03-01T/) }] },
    };
    const path = `/budgets/${String(old['id'])}`;
    const march = { periodStart: '2026-03-01T00:00:00Z', periodEnd: '2036-01-01T00:00:00Z' };
    const change = { periodEnd: march.periodEnd };
    expect(await workspace.api.patch(path, change)).toMatchObject(refused);
    expect(await workspace.api.patch(path, { allocated: 2 })).toMatchObject({ status: 200 });
    const early = { scope: 'global', allocated: 1, ...march, periodStart: '2026-02-28T23:59:59Z' };
    expect(await workspace.api.post('/budgets', early)).toMatchObject(refused);
    expect(await workspace.api.patch(path, march)).toMatchObject({ status: 200 });
  });
});

describe('GET /usage', () => {
  it('the sums of all groupings include reports that are not added yet', async () => {
    const projectId = await aProject(server.db.owner, workspace.id);
    const [agentId, taskId] = [newId(), newId()];
    await report({ at: '2026-01-31T23:59:59.999Z', projectId, cost: '0.000000000001' });
    await report({ at: '2026-02-01T00:00:00Z', model: '=cmd', agentId, cost: '1.5' });
    await report({ at: '2026-03-01T00:00:00Z', projectId, taskId });
    const keys = async (query: string) =>
      (await usage(query)).map(({ key, reports }) => [key, reports]);
    const look = async (): Promise<void> => {
      const year = 'from=2026-01-01&to=2026-12-31';
      expect(await keys(`groupBy=day&${year}`)).toEqual([
        ['2026-01-31', 1],
        ['2026-02-01', 1],
        ['2026-03-01', 1],
      ]);
      expect(await keys(`groupBy=agent&${year}`)).toEqual([
        [AN_AGENT, 2],
        [agentId, 1],
      ]);
      expect(await keys(`groupBy=task&${year}`)).toEqual([
        [taskId, 1],
        [A_TASK, 2],
      ]);
      expect(await keys(`groupBy=project&${year}`)).toEqual([
        [null, 1],
        [projectId, 2],
      ]);
      expect(await keys(`groupBy=task&${year}&projectId=${projectId}`)).toEqual([
        [taskId, 1],
        [A_TASK, 1],
      ]);
      expect(await keys('groupBy=agent&from=2026-02-01&to=2026-02-28')).toEqual([[agentId, 1]]);
      expect(await keys(`groupBy=day&${year}&agentId=${AN_AGENT.toUpperCase()}`)).toHaveLength(2);
      expect(await keys(`groupBy=day&${year}&taskId=${taskId}`)).toEqual([['2026-03-01', 1]]);
      expect(await keys(`groupBy=day&${year}&model=%3Dcmd`)).toEqual([['2026-02-01', 1]]);
      expect(await usage(`groupBy=project&${year}`)).toEqual([
        {
          key: null,
          name: null,
          inputTokens: '4',
          outputTokens: '1',
          cacheReadTokens: '2',
          cacheWriteTokens: '3',
          totalTokens: '10',
          costUsd: '1.5',
          reports: 1,
          reportsWithoutPrice: 0,
          reasoningTokens: '0',
          estimatedTokens: '0',
          estimatedReports: 0,
        },
        expect.objectContaining({ costUsd: '0.000000000001', reportsWithoutPrice: 1 }),
      ]);
      expect(await usage(`groupBy=task&${year}`)).toContainEqual(
        expect.objectContaining({ key: taskId, costUsd: null, reportsWithoutPrice: 1 }),
      );
    };
    await look();
    for (const follower = aRollup(); (await follower.round(1)).kind !== 'idle';) await look();
    await look();
  });

  it('the next page begins where a page ends, also after usage without a project', async () => {
    for (const projectId of [null, newId(), newId()]) await report({ projectId, taskId: newId() });
    for (const at of ['2026-11-20', '2026-11-21']) await report({ at });
    await aRollup().round();
    for (const query of [
      'groupBy=project',
      'groupBy=task',
      'groupBy=day&from=2026-11-01&to=2026-11-30',
    ]) {
      const whole = await usage(query);
      const paged: Sums[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const path = `/usage?${query}&limit=1${next}`;
        const { body } = await workspace.api.get<{ items: Sums[]; nextCursor: string | null }>(
          path,
        );
        paged.push(...body.items);
        cursor = body.nextCursor;
      }
      expect(paged).toEqual(whole);
      expect(paged.length).toBeGreaterThan(1);
    }
  });

  it('days can be those of a time zone, also on days of 23 and 25 hours', async () => {
    // Summer time begins on 29 March and ends on 25 October.
    const times = ['03-28T22:59', '03-28T23:00', '03-29T21:59', '03-29T22:00', '10-25T22:59'];
    for (const time of times) await report({ at: `2026-${time}:59Z`, model: 'a' });
    await report({ at: '2026-03-29T12:00:00Z', model: 'b' });
    await aRollup().round();
    const days = async (query: string) =>
      (await usage(`groupBy=day&from=2026-03-28&to=2026-10-25&${query}`)).map(
        ({ key, reports }) => `${key} ${reports}`,
      );
    const berlin = ['2026-03-28 1', '2026-03-29 3', '2026-03-30 1', '2026-10-25 1'];
    expect(await days('timeZone=Europe/Berlin')).toEqual(berlin);
    expect(await days('timeZone=Europe/Berlin&model=b')).toEqual(['2026-03-29 1']);
    expect(await days('timeZone=utc')).toEqual(await days(''));
    const path = '/usage?timeZone=Europe/Berlin&from=2026-03-28&to=2026-03-30&limit=1&cursor=';
    const first = await workspace.api.get(path.slice(0, -8));
    const next = await workspace.api.get<{ items: Sums[] }>(
      `${path}${String(first.body['nextCursor'])}`,
    );
    expect(next.body.items).toMatchObject([{ key: '2026-03-29', reports: 3 }]);
  });

  it('days of a time zone whose reports were removed are refused', async () => {
    await report();
    await rows(`INSERT INTO usage_logs_kept (workspace_id, since) VALUES ($1, '2026-03-01')`, [
      workspace.id,
    ]);
    const path = '/usage?timeZone=America/New_York&from=';
    expect(await workspace.api.get(`${path}2026-02-28`)).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'from', message: expect.stringContaining('2026-03-01') }] },
    });
    expect((await workspace.api.get(`${path}2026-03-01`)).status).toBe(200);
  });

  it('another workspace sees no usage', async () => {
    await report();
    await aRollup().round();
    await report();
    const other = await server.newWorkspace();
    const { body } = await other.api.get('/usage?groupBy=day');
    expect(body).toEqual({ items: [], nextCursor: null });
  });

  it.each([
    ['groupBy=hour', 'groupBy'],
    ['groupBy=day&from=2026-02-30', 'from'],
    ['groupBy=day&from=2026-02-02&to=2026-02-01', 'from'],
    ['groupBy=model&agentId=0190b1c2-0000-7000-8000-000000000000', 'agentId'],
    ['groupBy=day&model=x&agentId=0190b1c2-0000-7000-8000-000000000000', 'model'],
    ['groupBy=day&format=xml', 'format'],
    ['groupBy=day&timeZone=Mars/Olympus', 'timeZone'],
    ['groupBy=day&timeZone=%2B02:00', 'timeZone'],
    ['groupBy=model&timeZone=Europe/Berlin', 'timeZone'],
    ['groupBy=day&cursor=WyJ4Il0', 'cursor'],
  ])('refuses %s', async (query, field) => {
    for (const accept of ['*/*', 'text/csv']) {
      // A file takes no page.
      if (accept === 'text/csv' && field === 'cursor') continue;
      const { status, body } = await workspace.api.get(`/usage?${query}`, { accept });
      expect({ status, body }).toMatchObject({ status: 400, body: { errors: [{ field }] } });
    }
  });

  it('items have names of agents and projects and titles of tasks, in CSV too', async () => {
    const { owner } = server.db;
    const agentId = await anAgent(owner, workspace.id);
    const projectId = await aProject(owner, workspace.id);
    const taskId = await aTask(owner, workspace.id);
    await report({ agentId, projectId, taskId });
    await aRollup().round();
    await report({ agentId: newId(), taskId: newId() });
    const things = { agent: 'agents', project: 'projects', task: 'agent_tasks' };
    for (const [groupBy, table] of Object.entries(things)) {
      const column = groupBy === 'task' ? 'title' : 'name';
      const where = `${table} WHERE id = ANY ($1)`;
      const ids = [[agentId, projectId, taskId]];
      const [thing] = await rows<{ name: string }>(`SELECT ${column} AS name FROM ${where}`, ids);
      const names = (await usage(`groupBy=${groupBy}`)).map(({ name }) => name);
      expect(names.sort()).toEqual([thing?.name, null].sort());
      const file = await workspace.api.get(`/usage?groupBy=${groupBy}&format=csv`);
      expect(file.body).toMatch(new RegExp(`^${groupBy},name,inputTokens`));
      expect(file.body).toContain(`,${thing?.name},4,`);
    }
  });

  it('estimated reports stand apart in sums, and count for budgets', async () => {
    const budget = await workspace.api.post<{ id: string }>('/budgets', {
      scope: 'global',
      allocated: 1_000_000,
      recurrence: { every: 'month' },
    });
    await workspace.api.post('/agent-tasks', { title: 'A task', taskType: 'test' });
    const agent = await workspace.newAgent();
    const claimed = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
      `/agents/${agent.id}/claim`,
      {},
    );
    const path = `/runs/${claimed.body.tasks[0]?.run.id}/usage`;
    const whole = {
      id: 'whole',
      model: 'claude-sonnet-4',
      inputTokens: 10,
      outputTokens: 5,
      reasoningTokens: 3,
      timeToFirstTokenMs: 420,
    };
    const broken = { ...whole, id: 'broken', estimated: true, timeToFirstTokenMs: undefined };
    const reports = [whole, broken];
    for (const repeated of [0, 2]) {
      const { body } = await agent.api.post(path, { reports });
      expect(body).toMatchObject({ accepted: 2 - repeated, repeated });
    }
    for (const changed of [{ estimated: false }, { reasoningTokens: 4 }]) {
      const { body } = await agent.api.post(path, { reports: [{ ...broken, ...changed }] });
      expect(body).toMatchObject({ code: 'usage_report_conflict' });
    }
    const unequal = { ...whole, id: 'unequal', reasoningTokens: 6 };
    expect(await agent.api.post(path, { reports: [unequal] })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'reports[0].reasoningTokens' }] },
    });
    expect(
      await rows(
        `SELECT id, reasoning_tokens, time_to_first_token_ms, estimated FROM agent_usage_logs
         WHERE workspace_id = $1 ORDER BY id DESC`,
        [workspace.id],
      ),
    ).toEqual([
      { id: 'whole', reasoning_tokens: '3', time_to_first_token_ms: 420, estimated: false },
      { id: 'broken', reasoning_tokens: '3', time_to_first_token_ms: null, estimated: true },
    ]);
    const sums = {
      totalTokens: '30',
      reports: 2,
      reasoningTokens: '6',
      estimatedTokens: '15',
      estimatedReports: 1,
    };
    expect(await usage('groupBy=model')).toMatchObject([sums]);
    while ((await aRollup().round()).kind !== 'idle');
    expect(await usage('groupBy=model')).toMatchObject([sums]);
    const { body } = await workspace.api.get(`/budgets/${budget.body.id}`);
    expect(body).toMatchObject({ consumed: '30' });
  });

  it('a CSV file has no cell that a spreadsheet takes for a formula', async () => {
    await report({ model: '=HYPERLINK("x")' });
    await report({ model: 'a, b', cost: '0.1' });
    await aRollup().round();
    const answer = await workspace.api.get('/usage?groupBy=model', { accept: 'text/csv' });
    expect(await workspace.api.get('/usage?groupBy=model&format=csv')).toMatchObject({
      body: answer.body,
    });
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.body).toBe(
      'model,inputTokens,outputTokens,cacheReadTokens,cacheWriteTokens,totalTokens,costUsd,reports,reportsWithoutPrice,reasoningTokens,estimatedTokens,estimatedReports\r\n' +
        `"'=HYPERLINK(""x"")",4,1,2,3,10,,1,1,0,0,0\r\n"a, b",4,1,2,3,10,0.1,1,0,0,0,0\r\n`,
    );
  });
});
