import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { type ApiClient, apiClient } from '../support/api-client.js';
import { aSessionOf } from '../support/factories.js';
import {
  sharedServer,
  type TestAgent,
  type TestServer,
  type TestWorkspace,
} from '../support/shared-server.js';

/*
 * Requests from the documents that define the API, word by word; ids, tokens and hosts are
 * replaced. A client written by these documents works.
 */

let server: TestServer;
let workspace: TestWorkspace;
/** The user names no workspace and has only one. */
let user: ApiClient;
let agent: TestAgent;

beforeAll(async () => {
  server = await sharedServer('all');
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent();
  const sessionId = await aSessionOf(server.db.owner, workspace.userId);
  const { userId } = workspace;
  const tokens = server.tokens;
  const { token } = tokens.issueUserToken({ userId, sessionId, workspaceId: null });
  user = apiClient(server.url, { authorization: `Bearer ${token}` });
});
afterAll(() => server.stop());

interface Task {
  id: string;
  status: string;
  progressPercent: number;
  items: { action: string; event: string }[];
  [field: string]: unknown;
}

const aDevelopmentTask = {
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

async function create(body: object = aDevelopmentTask): Promise<string> {
  const { status, body: task } = await user.post<Task>('/agent-tasks', body);
  expect(status).toBe(201);
  return task.id;
}

async function claimed(body?: object): Promise<{ taskId: string; run: ApiClient }> {
  const taskId = await create(body);
  const { body: answer } = await agent.api.post<{ tasks: { run: { token: string } }[] }>(
    `/agents/${agent.id}/claim`,
    { taskId },
  );
  const token = answer.tasks[0]?.run.token ?? '';
  return { taskId, run: apiClient(server.url, { authorization: `Bearer ${token}` }) };
}

describe('the orchestration layer', () => {
  it('a new task waits for an agent that takes such tasks', async () => {
    const { status, body } = await user.post<Task>('/agent-tasks', {
      title: 'Fix TypeScript strict errors in U-Connect',
      description: '...',
      taskType: 'development',
      priority: 8,
      inputContext: { repository: 'u-connect', branch: 'main', scope: ['packages/shared'] },
      dependsOn: [],
      maxRetries: 3,
    });
    expect([status, body.status]).toEqual([201, 'PENDING']);
  });

  it('tasks are listed, read, changed, cancelled and retried, and their log is read', async () => {
    const id = await create();
    for (const path of [
      '/agent-tasks?status=RUNNING&priority>=8&tags=typescript',
      `/agent-tasks/${id}`,
      `/agent-tasks/${id}/logs?level=ERROR&limit=100`,
    ])
      expect((await user.get(path)).status).toBe(200);
    const paused = await user.patch<Task>(`/agent-tasks/${id}`, { priority: 10, status: 'PAUSED' });
    expect(paused.body).toMatchObject({ priority: 10, status: 'PAUSED' });
    const reason = { reason: 'Requirements changed' };
    const cancelled = await user.post<Task>(`/agent-tasks/${id}/cancel`, reason);
    expect(cancelled.body.status).toBe('ABORTED');
    expect((await user.post<Task>(`/agent-tasks/${id}/retry`)).body.status).toBe('PENDING');
  });

  it('agents are registered, listed, read and terminated', async () => {
    const id = newId();
    const registered = await user.put(`/agents/${id}`, {
      name: 'Dev Agent #1',
      model: 'claude-sonnet-4',
      capabilities: ['typescript', 'nestjs', 'prisma'],
      maxConcurrentTasks: 2,
      heartbeatIntervalSeconds: 30,
    });
    expect(registered.status).toBe(201);
    for (const path of [
      '/agents?status=WORKING&coordinatorEnabled=true',
      `/agents/${id}`,
      `/agents/${id}/health`,
      `/agents/${id}/tasks?status=RUNNING`,
    ])
      expect((await user.get(path)).status).toBe(200);
    const end = { reason: 'Manual shutdown', graceful: true };
    expect((await user.post(`/agents/${id}/terminate`, end)).status).toBe(200);
  });

  it("the coordinator's state is read, and a cycle is requested", async () => {
    expect((await user.get('/coordinator/status')).status).toBe(200);
    expect((await user.post('/coordinator/recover', { workspaceId: workspace.id })).status).toBe(
      200,
    );
    const logs = await user.get(`/coordinator/logs?workspace=${workspace.id}&level=ERROR`);
    expect(logs.status).toBe(200);
    expect((await fetch(`${server.url}/health/coordinator`)).status).toBe(200);
  });

  const heartbeat = (taskId: string) => ({
    status: 'healthy',
    currentTaskId: taskId,
    progressPercent: 45,
    currentStep: 'Running tsc --noEmit',
    memoryMb: 512,
    cpuPercent: 35,
  });
  const progress = {
    progressPercent: 70,
    currentStep: 'Fixing type errors in packages/shared',
    checkpointData: { filesProcessed: 15, errorsFixed: 8, remainingFiles: 5 },
  };
  const completion = {
    outputResult: {
      filesModified: 20,
      errorsFixed: 23,
      commitHash: 'abc123',
      buildStatus: 'passing',
    },
    summary: 'All TypeScript strict errors resolved. Build passing.',
  };

  it.each(['agent', 'run'] as const)(
    "an agent works on a task with the %s's token, without a run in the body",
    async (kind) => {
      const { taskId, run } = await claimed();
      const api = kind === 'agent' ? agent.api : run;
      const beat = await api.post(`/agents/${agent.id}/heartbeat`, heartbeat(taskId));
      expect(beat.status).toBe(200);
      expect((await api.patch(`/agent-tasks/${taskId}/progress`, progress)).status).toBe(200);
      expect((await user.get<Task>(`/agent-tasks/${taskId}`)).body.progressPercent).toBe(70);
      const path = `/agent-tasks/${taskId}/complete`;
      expect((await api.post(path, completion)).status).toBe(200);
      // The first answer may have been lost.
      expect((await api.post(path, completion)).status).toBe(200);
      const { body } = await user.get<Task>(`/agent-tasks/${taskId}`);
      expect(body).toMatchObject({ status: 'COMPLETED', ...completion });
    },
  );

  it('reports about a task that the agent does not hold are refused', async () => {
    const taskId = await create();
    const refused = await agent.api.patch(`/agent-tasks/${taskId}/progress`, progress);
    expect([refused.status, refused.body['code']]).toEqual([409, 'run_required']);
    const unknown = await agent.api.patch(`/agent-tasks/${newId()}/progress`, progress);
    expect([unknown.status, unknown.body['code']]).toEqual([404, 'task_not_found']);
  });

  it('fractional numbers are rounded', async () => {
    const { taskId, run } = await claimed();
    const measured = {
      ...heartbeat(taskId),
      cpuPercent: 35.4,
      memoryMb: 511.6,
      progressPercent: 44.5,
    };
    expect((await agent.api.post(`/agents/${agent.id}/heartbeat`, measured)).status).toBe(200);
    await run.patch(`/agent-tasks/${taskId}/progress`, { progressPercent: 33.3 });
    expect((await user.get<Task>(`/agent-tasks/${taskId}`)).body.progressPercent).toBe(33);
    await run.post(`/agent-tasks/${taskId}/complete`, completion);
  });

  it("the log describes events in the client's words", async () => {
    const { taskId, run } = await claimed();
    await run.post(`/agent-tasks/${taskId}/start`);
    await run.post(`/agent-tasks/${taskId}/complete`, completion);
    const { body } = await user.get<Task>(`/agent-tasks/${taskId}/logs?order=asc`);
    expect(body.items.map(({ action }) => action)).toEqual([
      'task_created',
      'task_assigned',
      'task_started',
      'task_completed',
    ]);
  });
});

describe('the worker orchestration system', () => {
  it('a worker is registered, and follows its events', async () => {
    const workerId = 'worker-a1b2c3d4';
    const registration = {
      workerId,
      name: 'Worker One',
      hostname: 'build-7',
      pid: 4711,
      capabilities: ['tx-implementer', 'tx-tester'],
    };
    const registered = await user.put(`/agents/${agent.id}`, registration);
    expect(registered.body).toMatchObject({ hostName: 'build-7', pid: 4711 });
    for (const status of ['idle', 'busy']) {
      const beat = await agent.api.post(`/agents/${agent.id}/heartbeat`, {
        workerId,
        timestamp: '2026-02-02T12:00:00.000Z',
        status,
        currentTaskId: newId(),
        metrics: { cpuPercent: 12.5, memoryMb: 80.2, tasksCompleted: 3 },
      });
      expect(beat.status).toBe(200);
    }
  });

  it('a task is claimed by its id, its lease renewed, and the task released', async () => {
    const taskId = await create();
    const claim = { taskId, leaseSeconds: 1_800 };
    const { body } = await agent.api.post<{ tasks: { run: { id: string } }[] }>(
      `/agents/${agent.id}/claim`,
      claim,
    );
    expect(body.tasks).toHaveLength(1);
    expect((await agent.api.post(`/agent-tasks/${taskId}/renew`)).status).toBe(200);
    expect((await agent.api.post(`/agent-tasks/${taskId}/release`)).status).toBe(200);
    expect((await user.get<Task>(`/agent-tasks/${taskId}`)).body.status).toBe('PENDING');
  });
});

describe('the worker service', () => {
  it.each([
    ['GET', '/api/tasks', undefined],
    ['GET', '/api/heartbeats', undefined],
    ['PATCH', `/api/tasks/${newId()}`, { status: 'in-progress' }],
    ['PATCH', `/api/tasks/${newId()}`, { status: 'todo', metadata: { crashRecovery: true } }],
  ])('the task API does not exist without a token: %s %s', async (method, path, body) => {
    const headers = { 'Content-Type': 'application/json' };
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(server.url + path, sent);
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'route_not_found' }]);
  });

  it('a worker finds, starts and completes the most urgent task of its slot', async () => {
    const slot = await workspace.newAgent();
    await user.put(`/agents/${slot.id}`, { name: 'slot-1', taskTypes: ['review'] });
    const given = { title: 'Review code changes for PR #42', taskType: 'review', agentId: slot.id };
    const later = await create({ ...given, priority: 1 });
    const sooner = await create({ ...given, priority: 9 });
    const worker = { status: 'idle', metadata: { workerPid: 12345, restartCount: 0 } };
    expect((await slot.api.post(`/agents/${slot.id}/heartbeat`, worker)).status).toBe(200);
    const claim = await slot.api.post<{ tasks: { task: Task }[] }>(`/agents/${slot.id}/claim`);
    expect(claim.body.tasks[0]?.task.id).toBe(sooner);
    const sessionKey = `agent:main:worker-slot-1:${newId()}`;
    await slot.api.post(`/agent-tasks/${sooner}/start`, { sessionKey });
    expect((await user.get<Task>(`/agent-tasks/${sooner}`)).body).toMatchObject({
      status: 'RUNNING',
      sessionKey,
    });
    expect((await slot.api.post(`/agent-tasks/${sooner}/complete`)).status).toBe(200);
    expect((await user.get<Task>(`/agent-tasks/${later}`)).body.status).toBe('PENDING');
  });
});

describe('the worker manager', () => {
  it.each([
    [137, 'oom', 'PENDING'],
    [143, 'timeout', 'PENDING'],
    [-1, 'infrastructure', 'PENDING'],
  ])(
    'a crash with exit code %i has the class %s, and its watchers learn it',
    async (exitCode, reason) => {
      const { taskId, run } = await claimed();
      const error = { class: reason, message: `Worker crashed: ${reason}`, exitCode };
      expect((await run.post(`/agent-tasks/${taskId}/fail`, { error })).status).toBe(200);
      const { body } = await user.get<Task>(`/agent-tasks/${taskId}`);
      expect(body).toMatchObject({ status: 'ABORTED', abortReason: reason, retryCount: 1 });
    },
  );
});

describe('the branch, the attempt and the error of each worker are stored', () => {
  it('keeps the branch, the attempt and the error of each worker', async () => {
    const { taskId, run } = await claimed();
    const branch = `worker-auth/${taskId}`;
    expect((await run.post(`/agent-tasks/${taskId}/start`, { branch })).status).toBe(200);
    const work_failed = { message: 'tests fail', retryable: true };
    await run.post(`/agent-tasks/${taskId}/fail`, { error: work_failed });
    const runs = await user.get<Task>(`/agent-tasks/${taskId}/runs`);
    expect(runs.body.items).toMatchObject([
      { state: 'FAILED', branch, generation: 1, error: 'tests fail' },
    ]);
    const { body } = await user.get<Task>(`/agent-tasks/${taskId}`);
    expect(body).toMatchObject({ status: 'ABORTED', retryCount: 1, lastError: 'tests fail' });
  });
});
