import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import type { BudgetAlertView } from './budget-alerts.js';
import { tellBudgetAlerts } from '../store/tell-budget-alerts.sql.js';

interface Alerts {
  items: BudgetAlertView[];
  nextCursor: string | null;
}

let app: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  app = await sharedServer();
  workspace = await app.newWorkspace();
});

afterAll(() => app.stop());

async function aBudget(allocated: number, scope: Record<string, unknown> = {}): Promise<string> {
  const period = { periodStart: '2026-01-01T00:00:00Z', periodEnd: '2099-01-01T00:00:00Z' };
  const body = { scope: 'global', allocated, ...period, ...scope };
  return (await workspace.api.post<{ id: string }>('/budgets', body)).body.id;
}

async function use(id: string, consumed: number): Promise<void> {
  await app.db.owner.query('UPDATE usage_budgets SET consumed = $2 WHERE id = $1', [id, consumed]);
  await app.db.database.service.rows(tellBudgetAlerts, [100, workspace.id]);
}

it('the alerts of one budget are listed, the newest first, page by page', async () => {
  const { body: project } = await workspace.api.post<{ id: string }>('/projects', { name: 'P' });
  const [id, other] = [
    await aBudget(1_000),
    await aBudget(10, { scope: 'project', scopeId: project.id }),
  ];
  await use(other, 10);
  await use(id, 800);
  await use(id, 1_100);
  const { status, body } = await workspace.api.get<Alerts>(`/budgets/${id}/alerts`);
  expect(status).toBe(200);
  expect(body.items.map(({ threshold }) => threshold)).toEqual([100, 90, 75, 50]);
  expect(body.items[0]).toEqual({
    at: expect.stringMatching(/^20/),
    level: 'critical',
    threshold: 100,
    percentUsed: 110,
    allocated: '1000',
    consumed: '1100',
    message: 'The budget of the workspace is used up',
  });
  expect(body.items[2]).toMatchObject({ level: 'warning', percentUsed: 80, consumed: '800' });
  const first = await workspace.api.get<Alerts>(`/budgets/${id}/alerts?limit=3`);
  expect(first.body.items).toEqual(body.items.slice(0, 3));
  const path = `/budgets/${id}/alerts?limit=3&cursor=${first.body.nextCursor}`;
  const rest = await workspace.api.get<Alerts>(path);
  expect(rest.body).toEqual({ items: body.items.slice(3), nextCursor: null });
});

it('alerts of a budget of another workspace cannot be listed', async () => {
  const id = await aBudget(10, { scope: 'task', scopeId: await aTask() });
  expect(await workspace.api.get(`/budgets/${id}/alerts`)).toMatchObject({
    status: 200,
    body: { items: [], nextCursor: null },
  });
  const stranger = await app.newWorkspace();
  for (const [api, of] of [
    [stranger.api, id],
    [workspace.api, newId()],
  ] as const)
    expect(await api.get(`/budgets/${of}/alerts`)).toMatchObject({
      status: 404,
      body: { code: 'budget_not_found' },
    });
  expect(await workspace.api.get(`/budgets/${id}/alerts?cursor=WyJ4Il0`)).toMatchObject({
    status: 400,
    body: { code: 'malformed_cursor' },
  });
});

async function aTask(): Promise<string> {
  const task = { title: 'A task', taskType: 'development' };
  return (await workspace.api.post<{ id: string }>('/agent-tasks', task)).body.id;
}
