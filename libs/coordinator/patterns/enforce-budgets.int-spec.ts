import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../../test/support/app.js';
import { type Held, Scene } from '../testing/scene.js';

const DAY_MS = 86_400_000;

let server: TestApp;
let scene: Scene;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
  scene = await Scene.of(server);
});

afterAll(() => server.stop());

/** A task under way whose own budget of 10,000 tokens has just been used up. */
async function usedUp(policy: string): Promise<Held & { budget: string }> {
  const held = await scene.held();
  const budget = {
    ...{ scope: 'task', scopeId: held.id, allocated: 10_000, policy },
    periodStart: new Date(Date.now() - DAY_MS).toISOString(),
    periodEnd: new Date(Date.now() + DAY_MS).toISOString(),
  };
  const { body } = await scene.workspace.api.post<{ id: string }>('/budgets', budget);
  const report = { id: 'one', model: 'claude-sonnet-4', inputTokens: 10_000, outputTokens: 0 };
  const answer = await held.agent.api.post(`/runs/${held.runId}/usage`, { reports: [report] });
  expect(answer.status).toBe(200);
  return { ...held, budget: body.id };
}

async function signalOf({ agent, runId }: Held): Promise<unknown> {
  const path = `/agents/${agent.id}/signals`;
  const body = { runIds: [runId], waitMs: 0 };
  return (await agent.api.post<{ runs: unknown[] }>(path, body)).body.runs[0];
}

describe('when a budget is used up', () => {
  it('pauses what runs, and lets it go on once the budget is raised', async () => {
    const held = await usedUp('pause');
    expect((await scene.recover())['budgetsEnforced']).toBe(1);
    expect(await scene.read(held.id)).toMatchObject({
      ...{ status: 'PAUSED', pauseReason: 'budget_used_up' },
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

  it('leaves alone what somebody paused for another reason', async () => {
    const held = await usedUp('pause');
    await scene.workspace.api.post(`/agent-tasks/${held.id}/pause`, { reason: 'Lunch' });
    await scene.workspace.api.patch(`/budgets/${held.budget}`, { allocated: 20_000 });
    expect((await scene.recover())['budgetsEnforced']).toBe(0);
    expect(await scene.read(held.id)).toMatchObject({ status: 'PAUSED', pauseReason: 'Lunch' });
  });

  it('cancels what runs, or lets it finish, as its policy says', async () => {
    const aborted = await usedUp('abort');
    const finishing = await usedUp('finish');
    expect((await scene.recover())['budgetsEnforced']).toBe(1);
    expect(await scene.read(aborted.id)).toMatchObject({ status: 'ABORTED' });
    expect(await signalOf(aborted)).toMatchObject({ action: 'stop' });
    expect(await scene.read(finishing.id)).toMatchObject({ status: 'RUNNING' });
    await scene.holdsEverything();
  });
});
