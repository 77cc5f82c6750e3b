import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { messagesOf } from '#lib/journal';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAgent, aWorkspace } from '../../../../test/support/factories.js';
import { aHeldTask } from '../../../../test/support/task-factories.js';
import { type AlertedBudget, tellBudgetAlerts } from '../store/tell-budget-alerts.sql.js';

let db: TestDatabase;
let workspaceId: string;
let agentId: string;
let taskId: string;

beforeAll(async () => {
  db = await createTestDatabase();
});

beforeEach(async () => {
  workspaceId = await aWorkspace(db.owner);
  agentId = await anAgent(db.owner, workspaceId);
  ({ taskId } = await aHeldTask(db.owner, { workspaceId, agentId }));
});

afterAll(async () => {
  await db.drop();
});

async function sql<T extends object>(text: string, ...values: unknown[]): Promise<T[]> {
  return (await db.owner.query<T>(text, values)).rows;
}

async function aBudget(allocated: number, task: string | null = null): Promise<string> {
  const id = newId();
  await sql(
    `INSERT INTO usage_budgets (workspace_id, id, task_id, allocated, period_start, period_end)
     VALUES ($1, $2, $3, $4, now() - interval '1 day', now() + interval '1 day')`,
    workspaceId,
    id,
    task,
    allocated,
  );
  return id;
}

const set = (id: string, column: string, value: number) =>
  sql(`UPDATE usage_budgets SET ${column} = $2 WHERE id = $1`, id, value);
const tell = (): Promise<AlertedBudget[]> =>
  db.database.service.rows(tellBudgetAlerts, [100, workspaceId]);

async function alerts(): Promise<Record<string, unknown>[]> {
  const found = await sql<Parameters<typeof messagesOf>[0]>(
    `SELECT * FROM journal WHERE workspace_id = $1 AND event = 'budget.alert' ORDER BY id`,
    workspaceId,
  );
  return found.flatMap(messagesOf).map(({ body }) => body);
}

const thresholds = async () => (await alerts()).map(({ threshold }) => threshold);

describe('alerts of a budget', () => {
  it('concurrent senders send one alert for each threshold', async () => {
    const id = await aBudget(1_000);
    await set(id, 'consumed', 499);
    expect(await tell()).toEqual([]);
    await set(id, 'consumed', 500);
    await Promise.all(Array.from({ length: 4 }, tell));
    expect(await thresholds()).toEqual([50]);
    await set(id, 'consumed', 925);
    expect(await tell()).toMatchObject([{ budget_id: id, task_id: null, told: 2 }]);
    await set(id, 'consumed', 999);
    expect(await tell()).toEqual([]);
    await set(id, 'consumed', 1_200);
    await tell();
    expect(await thresholds()).toEqual([50, 75, 90, 100]);
    const [, , third, last] = await alerts();
    expect(third).toMatchObject({
      event: 'budget.alert',
      level: 'warning',
      threshold: 90,
      percentUsed: 92,
      scope: 'global',
      scopeId: workspaceId,
      budgetId: id,
      workspaceId,
      taskId: null,

      allocated: '1000',
      consumed: '925',
      message: '90 % of the budget of the workspace is used',
    });
    expect(last).toMatchObject({ level: 'critical', percentUsed: 120 });
  });

  it('a raised budget sends the thresholds that it fell below again', async () => {
    const id = await aBudget(100, taskId);
    await set(id, 'consumed', 80);
    await tell();
    await set(id, 'allocated', 150);
    // The tenant's own connection raises it, as in production.
    const tenant = db.database.tenant(workspaceId);
    const told = await tenant.rows(tellBudgetAlerts, [100, workspaceId]);
    expect(told).toMatchObject([{ task_id: taskId, told: 0 }]);
    await set(id, 'consumed', 120);
    await tell();
    expect(await thresholds()).toEqual([50, 75, 75]);
    expect((await alerts())[0]).toMatchObject({ scope: 'task', scopeId: taskId, taskId });
  });

  it('a budget of 0 tokens and the largest budget send alerts', async () => {
    const [none, most] = [await aBudget(0), await aBudget(0, taskId)];
    await set(most, 'allocated', 2 ** 62);
    await sql('UPDATE usage_budgets SET consumed = allocated WHERE id = $1', most);
    await tell();
    expect(await thresholds()).toEqual([50, 75, 90, 100]);
    await set(none, 'consumed', 1);
    await tell();
    expect(await thresholds()).toHaveLength(8);
  });
});
