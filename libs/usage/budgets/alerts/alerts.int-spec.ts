import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { messagesOf } from '#lib/journal';
import { checkRebuildable } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { ValkeyClient } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAgent, aWorkspace } from '../../../../test/support/factories.js';
import { aHeldTask } from '../../../../test/support/task-factories.js';
import { testValkey } from '../../../../test/support/valkey.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { type AlertedBudget, tellBudgetAlerts } from '../store/tell-budget-alerts.sql.js';
import { pruneUsageReports } from '../../ledger/retention/prune-usage.js';
import { UsageFollower } from '../view/usage-follower.js';
import { UsageRollup } from '../../ledger/sums/usage-rollup.js';
import { UsageView } from '../view/usage-view.js';

const place = testValkey();
let db: TestDatabase;
let valkey: ValkeyClient;
let workspaceId: string;
let agentId: string;
let taskId: string;
let runId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  valkey = new ValkeyClient(place);
  await valkey.ready(5_000);
});

beforeEach(async () => {
  workspaceId = await aWorkspace(db.owner);
  agentId = await anAgent(db.owner, workspaceId);
  ({ taskId, runId } = await aHeldTask(db.owner, { workspaceId, agentId }));
});

afterAll(async () => {
  await clear();
  valkey.close();
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

describe('Alerts of a budget', () => {
  it('are told once for each step, by whoever comes first', async () => {
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

  it('come again for steps that a raised budget fell below', async () => {
    const id = await aBudget(100, taskId);
    await set(id, 'consumed', 80);
    await tell();
    await set(id, 'allocated', 150);
    // As the tenant, as what has raised it would.
    const tenant = db.database.tenant(workspaceId);
    const told = await tenant.rows(tellBudgetAlerts, [100, workspaceId]);
    expect(told).toMatchObject([{ task_id: taskId, told: 0 }]);
    await set(id, 'consumed', 120);
    await tell();
    expect(await thresholds()).toEqual([50, 75, 75]);
    expect((await alerts())[0]).toMatchObject({ scope: 'task', scopeId: taskId, taskId });
  });

  it('are told of a budget of nothing once something is used, and of the largest that there is', async () => {
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

async function report(at = 'now'): Promise<void> {
  await sql(
    `INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, model, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, cost_usd, logged_at)
     VALUES ($1, $2, $3, $4, $5, 'a model', 40, 1, 2, 3, 0.25, $6)`,
    workspaceId,
    runId,
    newId(),
    taskId,
    agentId,
    at,
  );
}

async function clear(): Promise<void> {
  const keys = await valkey.commands.keys(`${place.keyPrefix}*`);
  for (const key of keys) await valkey.commands.del(key.slice(place.keyPrefix.length));
}

describe('The keys in Valkey', () => {
  const follow = async (): Promise<void> => {
    const view = new UsageView(db.database, valkey);
    const rollup = new UsageRollup(db.database);
    for (;;) {
      const { kind, position } = await rollup.round();
      if ((await view.round(position)) === 'caught_up' && kind === 'idle') return;
    }
  };
  const look = async () => ({
    current: await valkey.commands.hgetall(`usage:current:${workspaceId}`),
    task: await valkey.commands.hgetall(`usage:task:${taskId}`),
    alerts: (await valkey.commands.lrange(`usage:alerts:${workspaceId}`, 0, -1)).map(
      (text) => JSON.parse(text) as unknown,
    ),
  });

  it('say what the workspace and the task have used, and expire', async () => {
    await report();
    await report();
    await follow();
    expect(await look()).toEqual({
      current: {
        total_tokens: '92',
        total_cost_usd: '0.5',
        last_updated: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
      task: { consumed: '92', agents: JSON.stringify([agentId]) },
      alerts: [],
    });
    for (const key of ['position', `current:${workspaceId}`, `task:${taskId}`]) {
      expect(await valkey.commands.ttl(`usage:${key}`)).toBeGreaterThan(86_000);
    }
    expect((await checkRebuildable(db.serviceUrl, place)).violations).toEqual([]);
  });

  it('are the same again after a flush, and after a fall back to an older copy', async () => {
    const id = await aBudget(100, taskId);
    await report();
    await follow();
    const older = await valkey.commands.get('usage:position');
    await report();
    await set(id, 'consumed', 92);
    await follow();
    const before = await look();
    expect(before.task).toMatchObject({ allocated: '100', consumed: '92', remaining: '8' });
    expect(before.alerts).toEqual([
      {
        task_id: taskId,
        scope: 'task',
        scope_id: taskId,
        budget_id: id,
        level: 'warning',
        percent_used: 92,
        message: '90 % of the budget of the task is used',
      },
    ]);
    const last_updated = expect.any(String);
    const same = { ...before, current: { ...before.current, last_updated } };
    await clear();
    await follow();
    expect(await look()).toEqual(same);
    await clear();
    await valkey.commands.set('usage:position', older ?? '');
    await follow();
    expect(await look()).toEqual(same);
  });

  it('are not set back by a server that was asleep', async () => {
    await report();
    await follow();
    const before = await valkey.commands.get('usage:position');
    const asleep = new UsageView(db.database, {
      attempt: () => Promise.resolve({ kind: 'done', value: '0' }),
      change: valkey.change.bind(valkey),
    } as unknown as ValkeyClient);
    await clear();
    await valkey.commands.set('usage:position', before ?? '');
    await asleep.round(before ?? '');
    expect(await valkey.commands.get('usage:position')).toBe(before);
    expect(await look()).toEqual({ current: {}, task: {}, alerts: [] });
  });

  it('are written by a server with the role relay, without being asked', async () => {
    const view = new UsageView(db.database, valkey);
    const logger = Logger.create({ level: 'silent' });
    const roles = { roles: ['relay' as const] };
    const follower = new UsageFollower(new UsageRollup(db.database), view, logger, roles);
    follower.onApplicationBootstrap();
    await report();
    await waitFor('the key', async () => (await look()).task['consumed'] === '46');
    await follower.beforeApplicationShutdown();
  });

  it('are left alone without Valkey, and the sums are not', async () => {
    const away = new ValkeyClient({ url: 'redis://127.0.0.1:1' });
    await report();
    const { position } = await new UsageRollup(db.database).round();
    expect(await new UsageView(db.database, away).round(position)).toBe('away');
    away.close();
  });
});

describe('The retention of reports', () => {
  const kept = async () =>
    (
      await sql<{ days: number }>(
        `SELECT now()::date - logged_at::date AS days FROM agent_usage_logs WHERE workspace_id = $1 ORDER BY 1`,
        workspaceId,
      )
    ).map(({ days }) => days);
  const reportDaysAgo = (days: number) =>
    report(new Date(Date.now() - days * 86_400_000).toISOString());

  it('removes those that are older and added up, but none that a budget counts', async () => {
    for (const days of [1, 39, 41, 50, 60]) await reportDaysAgo(days);
    expect(await pruneUsageReports(db.database.service, 40, 10)).toBe(0);
    await new UsageRollup(db.database).round();
    const id = await aBudget(1_000);
    await sql(
      `UPDATE usage_budgets SET period_start = now() - interval '55 days' WHERE id = $1`,
      id,
    );
    expect(await pruneUsageReports(db.database.service, 40, 10)).toBe(1);
    expect(await kept()).toEqual([1, 39, 41, 50]);
    await sql(`UPDATE usage_budgets SET period_end = now() WHERE id = $1`, id);
    expect(await pruneUsageReports(db.database.service, 40, 1)).toBe(1);
    expect(await kept()).toEqual([1, 39, 41]);
    expect(await pruneUsageReports(db.database.service, 40, 10)).toBe(1);
    expect(await kept()).toEqual([1, 39]);
    const since = await sql(
      `SELECT now()::date - since AS days FROM usage_logs_kept WHERE workspace_id = $1`,
      workspaceId,
    );
    expect(since).toEqual([{ days: 40 }]);
  });
});
