import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAgent, aWorkspace } from '../../../../test/support/factories.js';
import { aHeldTask } from '../../../../test/support/task-factories.js';
import { UsageRollup } from '../sums/usage-rollup.js';
import { pruneUsageReports } from './prune-usage.js';

let db: TestDatabase;
let workspaceId: string;
let agentId: string;
let taskId: string;
let runId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  workspaceId = await aWorkspace(db.owner);
  agentId = await anAgent(db.owner, workspaceId);
  ({ taskId, runId } = await aHeldTask(db.owner, { workspaceId, agentId }));
});

afterAll(() => db.drop());

async function sql<T extends object>(text: string, ...values: unknown[]): Promise<T[]> {
  return (await db.owner.query<T>(text, values)).rows;
}

async function reportAt(time: string): Promise<void> {
  await sql(
    `INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, model,
      input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, cost_usd, logged_at)
     VALUES ($1, $2, $3, $4, $5, 'a model', 40, 1, 2, 3, 0.25, $6)`,
    workspaceId,
    runId,
    newId(),
    taskId,
    agentId,
    time,
  );
}

async function aBudget(): Promise<string> {
  const id = newId();
  await sql(
    `INSERT INTO usage_budgets (workspace_id, id, allocated, period_start, period_end)
     VALUES ($1, $2, 1000, now() - interval '55 days', now() + interval '1 day')`,
    workspaceId,
    id,
  );
  return id;
}

const reportDaysAgo = (days: number) =>
  reportAt(new Date(Date.now() - days * 86_400_000).toISOString());

const keptDays = async () => {
  const rows = await sql<{ days: number }>(
    `SELECT now()::date - logged_at::date AS days FROM agent_usage_logs
     WHERE workspace_id = $1 ORDER BY 1`,
    workspaceId,
  );
  return rows.map(({ days }) => days);
};

it('retention removes old reports in the sums, unless a budget counts them', async () => {
  for (const days of [1, 39, 41, 50, 60]) await reportDaysAgo(days);
  const { service } = db.database;
  expect(await pruneUsageReports(service, 40, 10)).toBe(0);
  // A transaction of another database can hold back a round.
  for (const rollup = new UsageRollup(db.database); (await rollup.round()).kind !== 'idle';);
  const id = await aBudget();
  expect(await pruneUsageReports(service, 40, 10)).toBe(1);
  expect(await keptDays()).toEqual([1, 39, 41, 50]);
  await sql(`UPDATE usage_budgets SET period_end = now() WHERE id = $1`, id);
  expect(await pruneUsageReports(service, 40, 1)).toBe(1);
  expect(await keptDays()).toEqual([1, 39, 41]);
  expect(await pruneUsageReports(service, 40, 10)).toBe(1);
  expect(await keptDays()).toEqual([1, 39]);
  const since = await sql(
    `SELECT now()::date - since AS days FROM usage_logs_kept WHERE workspace_id = $1`,
    workspaceId,
  );
  expect(since).toEqual([{ days: 40 }]);
});
