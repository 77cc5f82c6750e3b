import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { checkRebuildable } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { UsageRollup } from '#lib/ledger';
import { Logger } from '#lib/observability';
import { ValkeyClient } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAgent, aWorkspace } from '../../../../test/support/factories.js';
import { aHeldTask } from '../../../../test/support/task-factories.js';
import { testValkey } from '../../../../test/support/valkey.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { UsageFollower } from './usage-follower.js';
import { UsageView } from './usage-view.js';

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

async function sql(text: string, ...values: unknown[]): Promise<void> {
  await db.owner.query(text, values);
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
async function report(task = taskId, minutesAgo = 0): Promise<void> {
  await sql(
    `INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, model,
      input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, cost_usd, logged_at)
     VALUES ($1, $2, $3, $4, $5, 'a model', 40, 1, 2, 3, 0.25, now() - make_interval(mins => $6))`,
    workspaceId,
    runId,
    newId(),
    task,
    agentId,
    minutesAgo,
  );
}

async function clear(): Promise<void> {
  const keys = await valkey.commands.keys(`${place.keyPrefix}*`);
  for (const key of keys) await valkey.commands.del(key.slice(place.keyPrefix.length));
}

describe('the keys in Valkey', () => {
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

  it('keys have the usage of workspace and task, and expire', async () => {
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
    for (const [key, seconds] of [
      ['position', 86_400],
      [`current:${workspaceId}`, 86_400],
      [`task:${taskId}`, 3_600],
    ] as const) {
      const ttl = await valkey.commands.ttl(`usage:${key}`);
      expect([key, ttl > seconds - 60 && ttl <= seconds]).toEqual([key, true]);
    }
    expect((await checkRebuildable(db.serviceUrl, place)).violations).toEqual([]);
  });

  it('keys are restored after a flush, and after Valkey restored an older copy', async () => {
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

  it('a flush restores the keys of tasks with usage of the last hour, for the rest of it', async () => {
    const recent = await aHeldTask(db.owner, { workspaceId, agentId });
    await report(taskId, 61);
    await report(recent.taskId, 90);
    await report(recent.taskId, 40);
    await clear();
    await follow();
    expect((await look()).task).toEqual({});
    expect((await look()).current).toMatchObject({ total_tokens: '138' });
    const key = `usage:task:${recent.taskId}`;
    expect(await valkey.commands.hget(key, 'consumed')).toBe('92');
    const ttl = await valkey.commands.ttl(key);
    expect(ttl > 1_100 && ttl <= 1_200).toBe(true);
  });

  it('a server that was suspended does not set keys back', async () => {
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

  it('a server with the role relay writes the keys by itself', async () => {
    const view = new UsageView(db.database, valkey);
    const logger = Logger.create({ level: 'silent' });
    const roles = { roles: ['relay' as const] };
    const follower = new UsageFollower(new UsageRollup(db.database), view, logger, roles);
    follower.onApplicationBootstrap();
    await report();
    await waitFor('the key', async () => (await look()).task['consumed'] === '46');
    await follower.beforeApplicationShutdown();
  });

  it('without Valkey the sums are added nevertheless', async () => {
    const away = new ValkeyClient({ url: 'redis://127.0.0.1:1' });
    await report();
    const { position } = await new UsageRollup(db.database).round();
    expect(await new UsageView(db.database, away).round(position)).toBe('away');
    away.close();
  });
});
