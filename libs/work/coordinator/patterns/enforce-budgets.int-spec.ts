import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { type Held, Scene } from '../testing/scene.js';

const DAY_MS = 86_400_000;

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
  scene = await Scene.of(server);
});

afterAll(() => server.stop());

const REPORT = { id: 'one', model: 'claude-sonnet-4', inputTokens: 10_000, outputTokens: 0 };

/** A running task with a budget of 10,000 tokens of its own. */
async function claimBudgetedTask(policy: string): Promise<Held & { budget: string }> {
  const held = await scene.held();
  const budget = {
    scope: 'task',
    scopeId: held.id,
    allocated: 10_000,
    policy,
    periodStart: new Date(Date.now() - DAY_MS).toISOString(),
    periodEnd: new Date(Date.now() + DAY_MS).toISOString(),
  };
  const { body } = await scene.workspace.api.post<{ id: string }>('/budgets', budget);
  return { ...held, budget: body.id };
}

/** A running task whose budget has just been used up. */
async function exhaustBudget(policy: string): Promise<Held & { budget: string }> {
  const held = await claimBudgetedTask(policy);
  const answer = await held.agent.api.post(`/runs/${held.runId}/usage`, { reports: [REPORT] });
  expect(answer.status).toBe(200);
  return held;
}

async function signalOf({ agent, runId }: Held): Promise<unknown> {
  const path = `/agents/${agent.id}/signals`;
  const body = { runIds: [runId], waitMs: 0 };
  return (await agent.api.post<{ runs: unknown[] }>(path, body)).body.runs[0];
}

describe('an exhausted budget', () => {
  it('an exhausted budget pauses running tasks, and a raise resumes them', async () => {
    const held = await exhaustBudget('pause');
    expect((await scene.recover())['budgetsEnforced']).toBe(1);
    expect(await scene.read(held.id)).toMatchObject({
      status: 'PAUSED',
      pauseReason: 'budget_used_up',
      pausedBy: `coordinator:budget:${held.budget}`,
    });
    expect(await signalOf(held)).toMatchObject({ action: 'pause' });
    expect((await scene.recover())['budgetsEnforced']).toBe(0);
    const raised = { allocated: 20_000 };
    expect((await scene.workspace.api.patch(`/budgets/${held.budget}`, raised)).status).toBe(200);
    expect((await scene.recover())['budgetsEnforced']).toBe(1);
    expect(await scene.read(held.id)).toMatchObject({ status: 'RUNNING', pausedBy: null });
    expect((await held.agent.api.post(`/runs/${held.runId}/complete`)).status).toBe(200);
    await scene.holdsEverything();
  });

  it('a task is left alone if its budget was raised after the search', async () => {
    const held = await exhaustBudget('abort');
    const other = await server.db.owner.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM agent_tasks WHERE id = $1 FOR UPDATE', [held.id]);
    const recovered = scene.recover();
    await waitFor('the coordinator to wait for the task', async () => {
      const { rows } = await scene.sql(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
          AND datname = current_database()`,
      );
      return rows.length > 0;
    });
    await other.query('UPDATE usage_budgets SET allocated = 20000 WHERE id = $1', [held.budget]);
    await other.query('COMMIT');
    other.release();
    expect((await recovered)['budgetsEnforced']).toBe(0);
    expect(await scene.read(held.id)).toMatchObject({ status: 'RUNNING' });
    expect((await held.agent.api.post(`/runs/${held.runId}/complete`)).status).toBe(200);
  });

  it('a task that a user paused for another reason stays unchanged', async () => {
    const held = await exhaustBudget('pause');
    await scene.workspace.api.post(`/agent-tasks/${held.id}/pause`, { reason: 'Lunch' });
    await scene.workspace.api.patch(`/budgets/${held.budget}`, { allocated: 20_000 });
    expect((await scene.recover())['budgetsEnforced']).toBe(0);
    expect(await scene.read(held.id)).toMatchObject({ status: 'PAUSED', pauseReason: 'Lunch' });
  });

  it('a task that a user has paused as well stays paused', async () => {
    const held = await exhaustBudget('pause');
    await scene.recover();
    const paused = await scene.workspace.api.post(`/agent-tasks/${held.id}/pause`, {
      reason: 'Lunch',
    });
    expect(paused).toMatchObject({ status: 200, body: { pauseReason: 'Lunch' } });
    await scene.workspace.api.patch(`/budgets/${held.budget}`, { allocated: 20_000 });
    expect((await scene.recover())['budgetsEnforced']).toBe(0);
    expect(await scene.read(held.id)).toMatchObject({
      status: 'PAUSED',
      pausedBy: expect.not.stringMatching(/^coordinator/),
    });
    await scene.workspace.api.post(`/agent-tasks/${held.id}/resume`);
    expect(await scene.read(held.id)).toMatchObject({ status: 'RUNNING' });
  });

  it('an exhausted budget cancels running tasks or lets them finish, by its policy', async () => {
    const aborted = await exhaustBudget('abort');
    const finishing = await exhaustBudget('finish');
    expect((await scene.recover())['budgetsEnforced']).toBe(1);
    expect(await scene.read(aborted.id)).toMatchObject({
      status: 'ABORTED',
      abortReason: 'budget_exceeded',
      retryAt: null,
    });
    expect(await signalOf(aborted)).toMatchObject({ action: 'stop', reason: 'budget_exceeded' });
    expect(await scene.read(finishing.id)).toMatchObject({ status: 'RUNNING' });
    await scene.holdsEverything();
  });

  it('a refused request pauses its task until the budget has the tokens', async () => {
    const held = await claimBudgetedTask('pause');
    const ask = async (values: object) => {
      const path = `/runs/${held.runId}/model-holds/${newId()}`;
      return (await held.agent.api.put<{ outcome: string }>(path, values)).body.outcome;
    };
    expect(await ask({ tokens: 10_001, final: false })).toBe('refused');
    expect(await scene.read(held.id)).toMatchObject({ status: 'RUNNING' });
    expect(await ask({ tokens: 6_000, final: false })).toBe('granted');
    expect(await ask({ tokens: 6_000, final: false })).toBe('wait');
    expect(await ask({ tokens: 6_000 })).toBe('refused');
    const paused = { status: 'PAUSED', pausedBy: `coordinator:budget:${held.budget}` };
    expect(await scene.read(held.id)).toMatchObject(paused);
    expect(await signalOf(held)).toMatchObject({ action: 'pause' });
    const release = { reason: 'budget_used_up' };
    expect((await held.agent.api.post(`/runs/${held.runId}/release`, release)).status).toBe(200);
    expect((await scene.recover())['budgetsEnforced']).toBe(0);
    expect(await scene.read(held.id)).toMatchObject(paused);
    await scene.workspace.api.patch(`/budgets/${held.budget}`, { allocated: 12_000 });
    expect((await scene.recover())['budgetsEnforced']).toBe(1);
    expect(await scene.read(held.id)).toMatchObject({ status: 'PENDING', retryCount: 0 });
    await scene.holdsEverything();
    await scene.workspace.api.post(`/agent-tasks/${held.id}/cancel`);
  });

  it('a refused request cancels its task by the policy, and its run asks in vain', async () => {
    const { id, runId, agent } = await claimBudgetedTask('abort');
    const path = `/runs/${runId}/model-holds/${newId()}`;
    const { body } = await agent.api.put(path, { tokens: 10_001 });
    expect(body).toMatchObject({
      outcome: 'refused',
      message: expect.stringMatching(/of 10000 tokens available, and this request can use 10001/),
    });
    expect(await scene.read(id)).toMatchObject({
      status: 'ABORTED',
      abortReason: 'budget_exceeded',
      retryAt: null,
    });
    expect(await agent.api.put(path, { tokens: 1 })).toMatchObject({
      status: 409,
      body: { code: 'stale_run' },
    });
    await scene.holdsEverything();
  });

  it('a run is warned in its signals above 90 % of a budget, not at 90 %', async () => {
    const held = await claimBudgetedTask('pause');
    const use = (id: string, inputTokens: number) =>
      held.agent.api.post(`/runs/${held.runId}/usage`, {
        reports: [{ ...REPORT, id, inputTokens }],
      });
    await use('to 90 %', 9_000);
    expect(await signalOf(held)).toBeUndefined();
    await use('beyond', 1);
    expect(await signalOf(held)).toMatchObject({ action: 'warn', reason: 'budget' });
    await scene.sql('UPDATE task_runs SET hung_warned_at = now() WHERE id = $1', held.runId);
    expect(await signalOf(held)).toMatchObject({ action: 'warn', reason: 'hung' });
    await scene.workspace.api.post(`/agent-tasks/${held.id}/cancel`);
  });

  it('a run completes although its completion exhausts the budget', async () => {
    const { id, runId, agent, budget } = await claimBudgetedTask('abort');
    const consumed = async () =>
      (await scene.workspace.api.get(`/budgets/${budget}`)).body['consumed'];
    const other = await server.db.owner.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM agents WHERE id = $1 FOR UPDATE', [agent.id]);
    const completing = agent.api.post(`/runs/${runId}/complete`, { usage: [REPORT] });
    await waitFor('the completion to wait', async () => {
      const waiting = await other.query(`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      return waiting.rows.length > 0;
    });
    expect(await consumed()).toBe('0');
    await other.query('COMMIT');
    other.release();
    expect((await completing).status).toBe(200);
    expect((await scene.recover())['budgetsEnforced']).toBe(0);
    expect([await consumed(), await scene.read(id)]).toMatchObject([
      '10000',
      { status: 'COMPLETED' },
    ]);
  });
});
