import { afterAll, beforeAll, expect } from '@jest/globals';
import { newId } from '#lib/kernel';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { aSessionOf } from '../../support/factories.js';
import { type Held, Scene } from '../../../libs/work/coordinator/testing/scene.js';
import { sharedServer, type TestServer, type TestWorkspace } from '../../support/shared-server.js';
import { waitFor } from '../../support/wait-for.js';
import {
  AGENT_REQUESTS,
  COORDINATOR_REQUESTS,
  TASK_REQUESTS,
} from '../promises/agent-orchestration-api.js';
import { prove } from './prove.js';

let server: TestServer;
let workspace: TestWorkspace;
let api: ApiClient;
let scene: Scene;

beforeAll(async () => {
  server = await sharedServer('all');
  scene = await Scene.of(server);
  workspace = scene.workspace;
  api = workspace.api;
});
afterAll(() => server?.stop());

/** The tasks in a list of the API. */
interface Page {
  items: { id: string; status: string }[];
}

const TASK = {
  title: 'Fix TypeScript strict errors in U-Connect',
  description: '...',
  taskType: 'development',
  priority: 8,
  inputContext: {
    repository: 'u-connect',
    branch: 'main',
    scope: ['packages/shared'],
  },
  dependsOn: [],
  maxRetries: 3,
};

const TASK_FROM_MAIN_AGENT = {
  title: 'Fix TypeScript strict errors in U-Connect',
  description: 'Run tsc --noEmit, fix all errors, commit changes',
  taskType: 'development',
  priority: 8,
  inputContext: {
    repository: 'u-connect',
    branch: 'main',
    commands: ['pnpm install', 'pnpm tsc:check'],
  },
  maxRetries: 2,
  estimatedDurationMinutes: 30,
};

const AGENT = {
  name: 'Dev Agent #1',
  model: 'claude-sonnet-4',
  capabilities: ['typescript', 'nestjs', 'prisma'],
  maxConcurrentTasks: 2,
  heartbeatIntervalSeconds: 30,
};

const PROGRESS = {
  progressPercent: 70,
  currentStep: 'Fixing type errors in packages/shared',
  checkpointData: {
    filesProcessed: 15,
    errorsFixed: 8,
    remainingFiles: 5,
  },
};

const COMPLETION = {
  outputResult: {
    filesModified: 20,
    errorsFixed: 23,
    commitHash: 'abc123',
    buildStatus: 'passing',
  },
  summary: 'All TypeScript strict errors resolved. Build passing.',
};

const holder = (values = {}): Promise<Held> => scene.held({ ...TASK, ...values });
const read = (id: string) => scene.read(id);
const aTask = (values = {}): Promise<string> => scene.task({ ...TASK, ...values });

prove(TASK_REQUESTS, {
  createTask: async () => {
    const { status, body } = await api.post('/agent-tasks', TASK);
    expect([status, body]).toEqual([201, expect.objectContaining({ ...TASK, status: 'PENDING' })]);
  },

  createTaskFromMainAgent: async () => {
    const { userId } = workspace;
    const sessionId = await aSessionOf(server.db.owner, userId);
    const { token } = server.tokens.issueUserToken({ userId, sessionId, workspaceId: null });
    const user = apiClient(server.url, { authorization: `Bearer ${token}` });
    const { status, body } = await user.post('/agent-tasks', TASK_FROM_MAIN_AGENT);
    expect([status, body]).toEqual([201, expect.objectContaining(TASK_FROM_MAIN_AGENT)]);
    expect(body['id']).toMatch(/^[0-9a-f-]{36}$/);
  },

  listTasks: async () => {
    const { id: taskId } = await holder({ tags: ['typescript'] });
    await holder({ tags: ['typescript'], priority: 7 });
    await holder({ tags: ['python'] });
    await aTask({ tags: ['typescript'] });
    const { body } = await api.get<Page>('/agent-tasks?status=RUNNING&priority>=8&tags=typescript');
    expect(body.items.map(({ id }) => id)).toEqual([taskId]);
  },

  getTask: async () => {
    const id = await aTask();
    const { status, body } = await api.get(`/agent-tasks/${id}`);
    expect([status, body]).toEqual([200, expect.objectContaining({ ...TASK, id })]);
  },

  changeTask: async () => {
    const { id: taskId } = await holder();
    const change = { priority: 10, status: 'PAUSED' };
    const { status, body } = await api.patch(`/agent-tasks/${taskId}`, change);
    expect([status, body]).toEqual([200, expect.objectContaining(change)]);
  },

  cancelTask: async () => {
    const { id: taskId } = await holder();
    const reason = { reason: 'Requirements changed' };
    const { status, body } = await api.post(`/agent-tasks/${taskId}/cancel`, reason);
    expect([status, body]).toEqual([200, expect.objectContaining({ status: 'ABORTED' })]);
    expect(await read(taskId)).toMatchObject({
      abortReason: 'cancelled',
      abortMessage: 'Requirements changed',
      retryAt: null,
    });
  },

  retryTask: async () => {
    const { id: taskId, agent } = await holder({ maxRetries: 0 });
    await agent.api.post(`/agent-tasks/${taskId}/fail`, { error: { message: 'It broke' } });
    expect(await read(taskId)).toMatchObject({ status: 'FAILED' });
    const { status, body } = await api.post(`/agent-tasks/${taskId}/retry`);
    expect([status, body['status']]).toEqual([200, 'PENDING']);
  },

  taskLogs: async () => {
    const { id: taskId, agent } = await holder({ maxRetries: 0 });
    await agent.api.post(`/agent-tasks/${taskId}/fail`, { error: { message: 'It broke' } });
    const { status, body } = await api.get<{ items: { level: string }[] }>(
      `/agent-tasks/${taskId}/logs?level=ERROR&limit=100`,
    );
    expect([status, new Set(body.items.map(({ level }) => level))]).toEqual([
      200,
      new Set(['ERROR']),
    ]);
  },

  reportProgress: async () => {
    const { id: taskId, agent } = await holder();
    const { status } = await agent.api.patch(`/agent-tasks/${taskId}/progress`, PROGRESS);
    expect(status).toBe(200);
    expect(await read(taskId)).toMatchObject(PROGRESS);
  },

  completeTask: async () => {
    const { id: taskId, agent } = await holder();
    const { status } = await agent.api.post(`/agent-tasks/${taskId}/complete`, COMPLETION);
    expect(status).toBe(200);
    expect(await read(taskId)).toMatchObject({
      ...COMPLETION,
      status: 'COMPLETED',
      progressPercent: 100,
      completedAt: expect.any(String),
    });
  },

  runToken: async () => {
    const { id: taskId, runToken } = await holder();
    const run = apiClient(server.url, { authorization: `Bearer ${runToken}` });
    expect((await run.patch(`/agent-tasks/${taskId}/progress`, PROGRESS)).status).toBe(200);
    const complete = () => run.post(`/agent-tasks/${taskId}/complete`, COMPLETION);
    const [first, second] = [await complete(), await complete()];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toEqual(first.body);
  },

  fractions: async () => {
    const { id: taskId, agent } = await holder();
    const measured = { ...heartbeatOf(taskId), cpuPercent: 35.4, memoryMb: 511.6 };
    const beat = await agent.api.post(`/agents/${agent.id}/heartbeat`, measured);
    expect(beat.status).toBe(200);
    await agent.api.patch(`/agent-tasks/${taskId}/progress`, { progressPercent: 33.3 });
    expect(await read(taskId)).toMatchObject({ progressPercent: 33 });
  },

  reportsWithoutRun: async () => {
    const { id: taskId } = await holder();
    const stranger = await workspace.newAgent();
    const refused = await stranger.api.post(`/agent-tasks/${taskId}/complete`, COMPLETION);
    expect([refused.status, refused.body['code']]).toEqual([409, 'run_required']);
  },

  firstReport: async () => {
    const { id: taskId, agent } = await scene.held(TASK, { start: false });
    expect(await read(taskId)).toMatchObject({ status: 'ASSIGNED', startedAt: null });
    await agent.api.patch(`/agent-tasks/${taskId}/progress`, PROGRESS);
    expect(await read(taskId)).toMatchObject({ status: 'RUNNING', startedAt: expect.any(String) });
  },
});

prove(AGENT_REQUESTS, {
  putAgent: async () => {
    const id = newId();
    const created = await api.put(`/agents/${id}`, AGENT);
    const capabilities = expect.arrayContaining(AGENT.capabilities);
    expect(created).toMatchObject({ status: 201, body: { ...AGENT, id, capabilities } });
    const changed = await api.put(`/agents/${id}`, { ...AGENT, maxConcurrentTasks: 3 });
    expect([changed.status, changed.body['maxConcurrentTasks']]).toEqual([200, 3]);
  },

  listAgents: async () => {
    const { agent } = await holder();
    await workspace.newAgent();
    const { status, body } = await api.get<Page>(
      '/agents?status=WORKING&coordinatorEnabled=true&limit=100',
    );
    expect([status, new Set(body.items.map((one) => one.status))]).toEqual([
      200,
      new Set(['WORKING']),
    ]);
    expect(body.items.map(({ id }) => id)).toContain(agent.id);
  },

  getAgent: async () => {
    const { id } = await workspace.newAgent();
    expect(await api.get(`/agents/${id}`)).toMatchObject({ status: 200, body: { id } });
  },

  agentHealth: async () => {
    const { id: taskId, agent } = await holder();
    await agent.api.post(`/agents/${agent.id}/heartbeat`, heartbeatOf(taskId));
    const health = await waitFor('the heartbeat in Postgres', async () => {
      const { body } = await api.get(`/agents/${agent.id}/health`);
      return body['memoryMb'] !== null && body;
    });
    expect(health).toMatchObject(heartbeatOf(taskId));
  },

  agentTasks: async () => {
    const { id: taskId, agent } = await holder();
    const { body } = await api.get<Page>(`/agents/${agent.id}/tasks?status=RUNNING`);
    expect(body.items).toMatchObject([{ id: taskId, status: 'RUNNING' }]);
  },

  terminateAgent: async () => {
    const { id: taskId, agent } = await holder();
    const request = { reason: 'Manual shutdown', graceful: true };
    const { status, body } = await api.post(`/agents/${agent.id}/terminate`, request);
    expect([status, body['status']]).toEqual([200, 'DRAINING']);
    const { status: completed } = await agent.api.post(
      `/agent-tasks/${taskId}/complete`,
      COMPLETION,
    );
    expect(completed).toBe(200);
    expect(await read(taskId)).toMatchObject({ status: 'COMPLETED' });
  },

  heartbeat: async () => {
    const { id: taskId, agent } = await holder();
    const path = `/agents/${agent.id}/heartbeat`;
    expect((await agent.api.post(path, heartbeatOf(taskId))).status).toBe(200);
  },
});

function heartbeatOf(currentTaskId: string) {
  return {
    status: 'healthy',
    currentTaskId,
    progressPercent: 45,
    currentStep: 'Running tsc --noEmit',
    memoryMb: 512,
    cpuPercent: 35,
  };
}

prove(COORDINATOR_REQUESTS, {
  coordinatorStatus: async () => {
    const { status, body } = await api.get('/coordinator/status');
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        active: true,
        instanceId: expect.any(String),
        workspaces: [workspace.id],
        lastHeartbeat: expect.any(String),
        stats: expect.objectContaining({
          pendingTasks: expect.any(Number),
          runningTasks: expect.any(Number),
          healthyAgents: expect.any(Number),
          staleAgents: expect.any(Number),
        }),
      }),
    ]);
  },

  recover: async () => {
    const { status, body } = await api.post('/coordinator/recover', { workspaceId: workspace.id });
    expect([status, body['workspaceId']]).toEqual([200, workspace.id]);
  },

  recoverAll: async () => {
    const { status, body } = await api.post('/coordinator/recover', {});
    expect([status, body['workspaceId']]).toEqual([200, workspace.id]);
    const everything = await api.post('/coordinator/recover', { allWorkspaces: true });
    expect(everything.status).toBe(403);
  },

  coordinatorLogs: async () => {
    const path = `/coordinator/logs?workspace=${workspace.id}&level=ERROR`;
    expect(await api.get(path)).toMatchObject({ status: 200, body: { items: expect.any(Array) } });
  },

  coordinatorHealth: async () => {
    const answer = await fetch(`${server.url}/health/coordinator`);
    expect(await answer.json()).toMatchObject({
      status: expect.stringMatching(/^(healthy|degraded|unhealthy)$/),
      coordinator: {
        active: true,
        lastCycle: expect.any(String),
        cycleCount: expect.any(Number),
      },
      database: 'connected',
      valkey: 'connected',
      // The shared server of the tests has no gateway. With one it says `reachable`.
      gateway: 'not_configured',
    });
  },
});
