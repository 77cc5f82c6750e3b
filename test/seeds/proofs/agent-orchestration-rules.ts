import { afterAll, beforeAll, expect } from '@jest/globals';
import { variables } from '#lib/config';
import { type Held, Scene } from '../../../libs/work/coordinator/testing/scene.js';
import { apiClient } from '../../support/api-client.js';
import { sharedServer } from '../../support/shared-server.js';
import { waitFor } from '../../support/wait-for.js';
import { aDyingAgent } from './dying-agent.js';
import {
  BUDGET_RULES,
  COORDINATION,
  MONITORING,
  RECOVERY_PATTERNS,
  SECURITY,
} from '../promises/agent-orchestration-rules.js';
import { prove } from './prove.js';

type Body = Record<string, unknown>;

let server: Awaited<ReturnType<typeof sharedServer>>;
let scene: Scene;
let dying: Held;

beforeAll(async () => {
  server = await sharedServer('all');
  scene = await Scene.of(server);
  dying = await aDyingAgent(scene, { maxRetries: 3, retryBackoffSeconds: 86_400 });
});
afterAll(() => server?.stop());

async function logs(taskId: string): Promise<Body[]> {
  const path = `/agent-tasks/${taskId}/logs?order=asc&limit=100`;
  return (await scene.workspace.api.get<{ items: Body[] }>(path)).body.items;
}

async function until(held: Held, status: string): Promise<Body> {
  return waitFor(`${held.id} to be ${status}`, async () => {
    const task = await scene.read(held.id);
    return task['status'] === status && task;
  });
}

prove(COORDINATION, {
  cycle: () => {
    expect(variables.shape.COORDINATOR_CRON.parse(undefined)).toBe('*/30 * * * * *');
  },

  assigned: async () => {
    const { id, agent, runId } = await scene.held();
    const entry = (await logs(id)).find(({ action }) => action === 'task_assigned');
    expect(entry).toMatchObject({ level: 'INFO', agentId: agent.id, runId });
  },

  started: async () => {
    const { id, agent } = await scene.held({}, { start: false });
    const session = { sessionKey: 'agent:main:dev' };
    expect((await agent.api.post(`/agent-tasks/${id}/start`, session)).status).toBe(200);
    const entry = (await logs(id)).find(({ action }) => action === 'task_started');
    expect(entry).toMatchObject(session);
    expect(await scene.read(id)).toMatchObject({ ...session, status: 'RUNNING' });
  },
});

prove(RECOVERY_PATTERNS, {
  staleAgent: async () => {
    await until(dying, 'ABORTED');
    const { body } = await scene.workspace.api.get(`/agents/${dying.agent.id}`);
    expect(body).toMatchObject({ status: 'ERROR', errorAt: expect.any(String) });
  },

  recoveryLog: async () => {
    await until(dying, 'ABORTED');
    const entry = (await logs(dying.id)).find(({ action }) => action === 'task_recovery');
    expect(entry).toMatchObject({ previousStatus: 'RUNNING', newStatus: 'ABORTED' });
  },

  retriesExhausted: async () => {
    const { id, agent } = await scene.held({ maxRetries: 0 });
    await agent.api.post(`/agent-tasks/${id}/fail`, { error: { message: 'It broke' } });
    const lastError = 'Max retries exceeded (0/0): It broke';
    expect(await scene.read(id)).toMatchObject({ status: 'FAILED', lastError });
  },
});

prove(BUDGET_RULES, {
  warning: async () => {
    const { workspace } = await Scene.of(server);
    const at = await Scene.of({ ...server, newWorkspace: () => Promise.resolve(workspace) });
    const day = 86_400_000;
    const [periodStart, periodEnd] = [Date.now() - day, Date.now() + day].map((ms) =>
      new Date(ms).toISOString(),
    );
    const budget = { scope: 'global', allocated: 10_000, periodStart, periodEnd };
    const created = await workspace.api.post('/budgets', budget);
    expect(created.status).toBe(201);
    const { runId, agent } = await at.held({ estimatedTokens: '100' });
    const usage = { model: 'claude-sonnet-4', inputTokens: 9_100, outputTokens: 0 };
    await agent.api.post(`/runs/${runId}/usage`, { reports: [{ id: 'call-1', ...usage }] });
    const alerts = await waitFor('the alert', async () => {
      const { body } = await workspace.api.get<{ items: Body[] }>(
        `/budgets/${String(created.body['id'])}/alerts`,
      );
      return body.items.length >= 3 && body.items;
    });
    expect(alerts.map(({ threshold }) => threshold)).toContain(90);
  },

  estimate: async () => {
    const id = await scene.task({ estimatedComplexity: 5, agentId: dying.agent.id });
    expect(await scene.read(id)).toMatchObject({
      estimatedTokens: String(Math.ceil(5 * 1000 * 1.2 * 1.3 * 1.15)),
      estimateSource: 'complexity',
    });
  },

  prices: async () => {
    const priced = async (model: string) => {
      const { body } = await scene.workspace.api.get<{ items: Body[] }>(
        `/model-prices?model=${model}`,
      );
      return body.items[0];
    };
    expect([
      await priced('claude-3-5-haiku'),
      await priced('claude-sonnet-4'),
      await priced('claude-opus-4'),
    ]).toMatchObject([
      { inputUsd: '0.8', outputUsd: '4' },
      { inputUsd: '3', outputUsd: '15' },
      { inputUsd: '15', outputUsd: '75' },
    ]);
  },

  routing: async () => {
    expect([
      await tierOf('taskType=review&estimatedComplexity=9'),
      await tierOf('taskType=boilerplate'),
      await tierOf('taskType=review&estimatedTokens=9999'),
      await tierOf('taskType=review&estimatedTokens=10000&estimatedComplexity=8'),
    ]).toEqual(['opus', 'haiku', 'haiku', 'sonnet']);
  },

  critical: async () => {
    expect([
      await tierOf('taskType=review&priority=8'),
      await tierOf('taskType=review&priority=9'),
    ]).toEqual(['sonnet', 'opus']);
    const body = { title: 'A task', taskType: 'review', priority: 'critical' };
    expect((await scene.workspace.api.post('/agent-tasks', body)).status).toBe(400);
  },
});

async function tierOf(query: string): Promise<unknown> {
  const { body } = await scene.workspace.api.get(`/model-routing/preview?${query}`);
  return body['tier'] ?? body;
}

prove(SECURITY, {
  foreignTenant: async () => {
    const { api } = await server.newWorkspace();
    const foreign = await api.get(`/agent-tasks/${dying.id}`);
    expect([foreign.status, foreign.body['code']]).toEqual([404, 'task_not_found']);
    const named = await api.get('/agent-tasks', { 'x-workspace-id': scene.id });
    expect([named.status, named.body['code']]).toEqual([404, 'workspace_not_found']);
  },

  agentToken: async () => {
    const { agent } = await scene.held();
    const [, claims = ''] = agent.token.split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      sub: agent.id,
    });
    const path = `/agents/${agent.id}/heartbeat`;
    const beat = { status: 'healthy' };
    expect((await agent.api.post(path, beat)).status).toBe(200);
    const other = await scene.workspace.newAgent();
    expect((await other.api.post(path, beat)).status).toBe(404);
    expect((await apiClient(server.url, {}).post(path, beat)).status).toBe(401);
    expect((await scene.workspace.api.post(path, beat)).status).toBe(401);
  },
});

prove(MONITORING, {
  batching: async () => {
    const batched = await scene.workspace.api.post('/agent-tasks', {
      title: 'A task',
      taskType: 'review',
      batchKey: 'similar',
    });
    expect([batched.status, batched.body['code']]).toEqual([400, 'validation_failed']);
  },

  regions: async () => {
    const { body } = await scene.workspace.api.get('/coordinator/status');
    expect(body).not.toHaveProperty('region');
  },
});
