import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { type Held, Scene } from '../testing/scene.js';

const [DAY_MS, ESTIMATE] = [86_400_000, 8970];

let server: TestServer;
let scene: Scene;
let project: string;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
  project = await make('/projects', { name: 'Of the periods' });
});
afterAll(() => server.stop());

async function make(path: string, body: object): Promise<string> {
  const answer = await scene.workspace.api.post<{ id: string }>(path, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id;
}

const makeBudget = (values: object) =>
  make('/budgets', { scope: 'project', scopeId: project, allocated: 20_000, ...values });
const daily = { recurrence: { every: 'day', timeZone: 'Europe/Berlin' } };
const days = (start: number, end: number) => ({
  periodStart: new Date(Date.now() + start * DAY_MS).toISOString(),
  periodEnd: new Date(Date.now() + end * DAY_MS).toISOString(),
});

async function read(id: string) {
  return (await scene.workspace.api.get(`/budgets/${id}`)).body;
}

async function use({ agent, runId }: Held, id: string, inputTokens: number) {
  const report = { id, model: 'claude-sonnet-4', inputTokens, outputTokens: 0 };
  const answer = await agent.api.post(`/runs/${runId}/usage`, { reports: [report] });
  expect(answer.status).toBe(200);
}

/** Lets the period of a budget end, and the next one begin, at this moment. */
async function passPeriod(id: string): Promise<void> {
  await scene.sql(
    `UPDATE usage_budgets SET period_end = now(), due_at = now(),
       first_start = CASE WHEN every IS NOT NULL THEN now() AT TIME ZONE time_zone END
     WHERE id = $1`,
    id,
  );
}

describe('a recurring budget', () => {
  it('a renewed budget keeps the holds, and has consumed the usage of its new period', async () => {
    const budget = await makeBudget(daily);
    const held = await scene.held({ projectId: project });
    await use(held, 'before', 3_000);
    await passPeriod(budget);
    await use(held, 'after the end', 100);
    expect(await read(budget)).toMatchObject({ consumed: '3100', isActive: true, version: 1 });
    await scene.holdsEverything();
    expect((await scene.recover())['budgetPeriodsEnded']).toBe(1);
    const renewed = await read(budget);
    expect(renewed).toMatchObject({
      consumed: '100',
      reserved: String(ESTIMATE - 3_100),
      version: 2,
      recurrence: { every: 'day', timeZone: 'Europe/Berlin', allocated: '20000' },
    });
    expect(Date.parse(String(renewed['periodEnd']))).toBeGreaterThan(Date.now());
    expect(await scene.events('budget.ended')).toMatchObject([
      { budgetId: budget, consumed: '3000', followedBy: 'renewal' },
    ]);
    expect((await scene.recover())['budgetPeriodsEnded']).toBe(0);
    await use(held, 'in the new period', 10);
    await scene.holdsEverything();
    expect((await held.agent.api.post(`/runs/${held.runId}/complete`)).status).toBe(200);
    expect(await read(budget)).toMatchObject({ consumed: '110', reserved: '0' });
    await scene.holdsEverything();
  });

  it('its ended periods are listed, the newest first, page by page', async () => {
    const budget = await makeBudget(daily);
    const path = `/budgets/${budget}/periods`;
    const list = async (query = '') =>
      (await scene.workspace.api.get<{ items: object[]; nextCursor: string | null }>(path + query))
        .body;
    expect(await list()).toEqual({ items: [], nextCursor: null });
    const held = await scene.held({ projectId: project });
    const ended: object[] = [];
    for (const tokens of [40, 2]) {
      await use(held, `${tokens}`, tokens);
      await passPeriod(budget);
      const { periodStart, periodEnd } = await read(budget);
      await scene.recover();
      ended.unshift({ periodStart, periodEnd, allocated: '20000', consumed: `${tokens}` });
    }
    // Another budget has periods of its own.
    const other = await make('/budgets', { scope: 'global', allocated: 5, ...daily });
    await passPeriod(other);
    await scene.recover();
    expect(await list()).toEqual({ items: ended, nextCursor: null });
    const first = await list('?limit=1');
    expect(first.items).toEqual(ended.slice(0, 1));
    const rest = await list(`?limit=1&cursor=${first.nextCursor}`);
    expect(rest).toEqual({ items: ended.slice(1), nextCursor: null });
    expect((await scene.workspace.api.get(`${path}?cursor=WyJ4Il0`)).body['code']).toBe(
      'malformed_cursor',
    );
    const stranger = await server.newWorkspace();
    expect(await stranger.api.get(path)).toMatchObject({
      status: 404,
      body: { code: 'budget_not_found' },
    });
    await scene.workspace.api.post(`/agent-tasks/${held.id}/cancel`);
    await scene.holdsEverything();
  });

  it('a task that a used up budget paused resumes in the next period', async () => {
    const budget = await makeBudget(daily);
    const held = await scene.held({ projectId: project });
    await use(held, 'all', 20_000);
    await scene.recover();
    expect(await scene.read(held.id)).toMatchObject({ status: 'PAUSED', pausedFor: 'budget' });
    await passPeriod(budget);
    await scene.recover();
    expect(await scene.read(held.id)).toMatchObject({ status: 'RUNNING' });
    const { body } = await scene.workspace.api.get(`/budgets/${budget}/alerts`);
    expect((body['items'] as object[]).length).toBe(4);
    await use(held, 'half', 10_000);
    const later = await scene.workspace.api.get(`/budgets/${budget}/alerts`);
    expect(later.body['items']).toMatchObject([{ threshold: 50 }, {}, {}, {}, {}]);
    await scene.workspace.api.post(`/agent-tasks/${held.id}/cancel`);
    await scene.holdsEverything();
  });

  it('a reallocation changes the present period only, an edit all later ones', async () => {
    const budget = await makeBudget(daily);
    const other = await make('/budgets', { scope: 'global', allocated: 5, ...days(-1, 30) });
    await scene.workspace.api.post(`/budgets/${budget}/reallocate`, { to: other, amount: 8_000 });
    expect(await read(budget)).toMatchObject({ allocated: '12000' });
    await passPeriod(budget);
    await scene.recover();
    expect(await read(budget)).toMatchObject({ allocated: '20000' });
    await scene.workspace.api.patch(`/budgets/${budget}`, { allocated: 300 });
    await passPeriod(budget);
    await scene.recover();
    expect(await read(budget)).toMatchObject({ allocated: '300' });
  });
});

describe('a budget that does not recur', () => {
  it('its end is told once before and once after, and its scope has no limit then', async () => {
    const budget = await makeBudget(days(-1, 30));
    expect((await scene.recover())['budgetPeriodsEnded']).toBe(0);
    const soon = { periodEnd: days(0, 0.1).periodEnd };
    await scene.workspace.api.patch(`/budgets/${budget}`, soon);
    expect((await scene.recover())['budgetPeriodsEnded']).toBe(1);
    expect((await scene.recover())['budgetPeriodsEnded']).toBe(0);
    const facts = { budgetId: budget, scopeId: project, allocated: '20000', consumed: '0' };
    expect(await scene.events('budget.ending')).toMatchObject([{ ...facts, ...soon }]);
    await passPeriod(budget);
    expect((await scene.recover())['budgetPeriodsEnded']).toBe(1);
    expect(await scene.events('budget.ended')).toMatchObject([{ ...facts, followedBy: 'nothing' }]);
    expect((await scene.recover())['budgetPeriodsEnded']).toBe(0);
    await scene.held({ projectId: project, estimatedTokens: 1_000_000 });
    await scene.holdsEverything();
  });

  it('nobody is told that a budget ends if another one follows, or its task is done', async () => {
    const soon = days(-1, 0.1);
    await makeBudget(soon);
    await makeBudget({ periodStart: soon.periodEnd, periodEnd: days(0, 9).periodEnd });
    const held = await scene.held();
    const ofTask = await makeBudget({ scope: 'task', scopeId: held.id, ...soon });
    expect((await held.agent.api.post(`/runs/${held.runId}/complete`)).status).toBe(200);
    expect((await scene.recover())['budgetPeriodsEnded']).toBe(0);
    expect(await scene.events('budget.ending')).toEqual([]);
    await passPeriod(ofTask);
    expect((await scene.recover())['budgetPeriodsEnded']).toBe(1);
    const { rows } = await scene.sql(
      `SELECT level, message FROM journal WHERE event = 'budget.ended' AND task_id = $1`,
      held.id,
    );
    expect(rows).toEqual([
      { level: 'INFO', message: 'The budget of the task ended after its task' },
    ]);
  });
});
