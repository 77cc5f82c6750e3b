import { afterAll, beforeAll, expect } from '@jest/globals';
import { newId } from '#lib/kernel';
import { CHANGE_STATES } from '#lib/changes/domain';
import { RUN_STATES } from '#lib/transitions/domain';
import { Scene } from '../../../libs/work/coordinator/testing/scene.js';
import { CHANGE_EDGES } from '../../../libs/code/changes/domain/change-state.js';
import { RUN_EDGES } from '../../../libs/work/transitions/domain/run-state.js';
import { sharedServer, type TestServer, type TestWorkspace } from '../../support/shared-server.js';
import { waitFor } from '../../support/wait-for.js';
import { POLLING, SLOTS } from '../promises/worker-service.js';
import {
  INTEGRATION,
  RUN_COMMANDS,
  RUN_STATES_PROMISED,
} from '../promises/worker-state-machine.js';
import { prove } from './prove.js';

type Body = Record<string, unknown>;

let server: TestServer;
let scene: Scene;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer('all');
  scene = await Scene.of(server);
  workspace = scene.workspace;
});
afterAll(() => server?.stop());

async function runsOf(taskId: string): Promise<Body[]> {
  const { body } = await workspace.api.get<{ items: Body[] }>(`/agent-tasks/${taskId}/runs`);
  return body.items;
}

prove(RUN_STATES_PROMISED, {
  idle: async () => {
    const { id, api } = await workspace.newAgent();
    await api.post(`/agents/${id}/heartbeat`, { status: 'idle' });
    expect((await workspace.api.get(`/agents/${id}`)).body['status']).toBe('IDLE');
    expect(RUN_STATES).not.toContain('IDLE');
  },

  states: () => {
    const words = 'ASSIGNED WORKING COMPLETED STALE FAILED';
    expect(RUN_STATES).toEqual(expect.arrayContaining(words.split(' ')));
    expect(CHANGE_STATES).toEqual(expect.arrayContaining(['IN_REVIEW', 'APPROVED']));
  },

  edges: () => {
    const arrows = [
      ['ASSIGNED', 'WORKING'],
      ['ASSIGNED', 'FAILED'],
      ['WORKING', 'FAILED'],
      ['WORKING', 'STALE'],
      ['STALE', 'WORKING'],
      ['STALE', 'FAILED'],
    ] as const;
    const legal: Record<string, readonly string[]> = RUN_EDGES;
    expect(arrows.filter(([from, to]) => !legal[from]?.includes(to))).toEqual([]);
    const ofChanges = [
      ['WORKING', 'PROVING'],
      ['PROVING', 'IN_REVIEW'],
      ['IN_REVIEW', 'APPROVED'],
      ['IN_REVIEW', 'WORKING'],
      ['APPROVED', 'MERGED'],
      ['APPROVED', 'WORKING'],
    ] as const;
    const others: Record<string, readonly string[]> = CHANGE_EDGES;
    expect(ofChanges.filter(([from, to]) => !others[from]?.includes(to))).toEqual([]);
  },

  reset: async () => {
    expect([RUN_EDGES.FAILED, RUN_EDGES.COMPLETED]).toEqual([[], []]);
    const { id, agent } = await scene.held({ maxRetries: 0 });
    await agent.api.post(`/agent-tasks/${id}/fail`, { error: { message: 'tests fail' } });
    await workspace.api.post(`/agent-tasks/${id}/retry`);
    await scene.claim(agent, id);
    expect(await runsOf(id)).toMatchObject([
      { generation: 2, state: 'ASSIGNED' },
      { generation: 1, state: 'FAILED' },
    ]);
  },

  attempts: async () => {
    const { id, agent } = await scene.held({ maxRetries: 3, retryBackoffSeconds: 86_400 });
    const error = { message: 'tests fail', retryable: true };
    await agent.api.post(`/agent-tasks/${id}/fail`, { error });
    const counted = { status: 'ABORTED', retryCount: 1, maxRetries: 3, lastError: 'tests fail' };
    expect(await scene.read(id)).toMatchObject(counted);
  },
});

prove(RUN_COMMANDS, {
  assign: async () => {
    const [agent, other] = [await workspace.newAgent(), await workspace.newAgent()];
    const id = await scene.task({ agentId: agent.id });
    const claim = await other.api.post(`/agents/${other.id}/claim`, { taskId: id });
    expect(claim.status).toBe(404);
    expect(await scene.claim(agent, id)).toMatchObject({ id });
  },

  start: async () => {
    const { id, agent } = await scene.held({}, { start: false });
    const branch = `worker-auth/${id}`;
    expect((await agent.api.post(`/agent-tasks/${id}/start`, { branch })).status).toBe(200);
    expect(await runsOf(id)).toMatchObject([{ state: 'WORKING', branch }]);
  },

  reset: async () => {
    const { id, agent } = await scene.held({ maxRetries: 0 });
    await agent.api.post(`/agent-tasks/${id}/fail`, { error: { message: 'tests fail' } });
    const { status, body } = await workspace.api.post(`/agent-tasks/${id}/retry`);
    expect([status, body]).toMatchObject([200, { status: 'PENDING', retryCount: 0 }]);
  },

  cancel: async () => {
    const { id } = await scene.held();
    const { body } = await workspace.api.post(`/agent-tasks/${id}/cancel`);
    expect(body['status']).toBe('ABORTED');
    expect(await runsOf(id)).toMatchObject([{ state: 'RELEASED' }]);
  },

  heartbeat: async () => {
    const { agent } = await scene.held();
    const beat = await agent.api.post(`/agents/${agent.id}/heartbeat`, { status: 'working' });
    expect(beat.status).toBe(200);
  },
});

prove(INTEGRATION, {
  branch: async () => {
    const { id, agent } = await scene.held({}, { start: false });
    const branch = `worker-auth/${id}`;
    await agent.api.post(`/agent-tasks/${id}/start`, { branch });
    await agent.api.post(`/agent-tasks/${id}/complete`);
    expect(await runsOf(id)).toMatchObject([{ state: 'COMPLETED', branch }]);
  },
});

/** The worker service does not use these paths of the API. */
async function answerOf(method: string, path: string, body?: object): Promise<unknown[]> {
  const headers = { 'Content-Type': 'application/json' };
  const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const answer = await fetch(server.url + path, sent);
  return [answer.status, ((await answer.json()) as Body)['code']];
}

const ABSENT = [404, 'route_not_found'];

/** The slot of a worker. */
async function aSlot(name: string) {
  const slot = await workspace.newAgent();
  await workspace.api.put(`/agents/${slot.id}`, { name: `${name} ${newId()}` });
  return slot;
}

prove(SLOTS, {
  heartbeats: async () => {
    expect(await answerOf('GET', '/api/heartbeats')).toEqual(ABSENT);
    const { id, agent, runId } = await scene.held({ title: 'Review code changes for PR #42' });
    const { body: read } = await workspace.api.get<{ name: string }>(`/agents/${agent.id}`);
    const { body } = await workspace.api.get<{ workers: Body }>('/fleet?limit=200');
    expect(body.workers[read.name] ?? body.workers[agent.id]).toMatchObject({
      status: 'working',
      task: id,
      taskTitle: 'Review code changes for PR #42',
      sessionId: runId,
      lastUpdate: expect.any(Number),
      startedAt: expect.any(Number),
      metadata: { restartCount: 0, taskStartedAt: expect.any(Number) },
    });
  },

  slot: async () => {
    const { agent, id } = await scene.held({ title: 'Review code changes for PR #42' });
    await agent.api.post(`/agents/${agent.id}/heartbeat`, {
      status: 'working',
      currentTaskId: id,
    });
    const health = await waitFor('the heartbeat in Postgres', async () => {
      const { body } = await workspace.api.get(`/agents/${agent.id}/health`);
      return body['currentTaskId'] !== null && body;
    });
    expect(health).toMatchObject({ currentTaskId: id, lastSeenAt: expect.any(String) });
  },

  metadata: async () => {
    const slot = await aSlot('slot-1');
    const metadata = { workerPid: 12345, workerVersion: '1.0.0', restartCount: 0 };
    await slot.api.post(`/agents/${slot.id}/heartbeat`, { status: 'idle', metadata });
    const stored = await waitFor('the heartbeat in Postgres', async () => {
      const { body } = await workspace.api.get(`/agents/${slot.id}/health`);
      const { metadata: given } = body as { metadata: Body };
      return given['workerPid'] !== undefined && given;
    });
    expect(stored).toEqual(metadata);
  },

  statuses: async () => {
    const slot = await aSlot('slot-2');
    for (const status of ['idle', 'working']) {
      const beat = await slot.api.post(`/agents/${slot.id}/heartbeat`, { status });
      expect(beat.status).toBe(200);
    }
  },

  offlineHeartbeat: async () => {
    const slot = await aSlot('slot-3');
    const beat = await slot.api.post(`/agents/${slot.id}/heartbeat`, { status: 'offline' });
    expect([beat.status, beat.body['code']]).toEqual([400, 'validation_failed']);
    const reason = { reason: 'graceful-shutdown' };
    expect((await slot.api.post(`/agents/${slot.id}/deregister`, reason)).status).toBe(200);
    const { body } = await workspace.api.get(`/agents/${slot.id}`);
    expect(body).toMatchObject({ status: 'TERMINATED', terminationReason: 'graceful-shutdown' });
  },
});

prove(POLLING, {
  listTasks: async () => expect(await answerOf('GET', '/api/tasks')).toEqual(ABSENT),

  owner: async () => {
    const [slot, other] = [await aSlot('slot-1'), await aSlot('slot-2')];
    const id = await scene.task({ agentId: slot.id });
    const foreign = await other.api.post(`/agents/${other.id}/claim`, { taskId: id });
    expect(foreign.status).toBe(404);
    expect(await scene.claim(slot)).toMatchObject({ id });
  },

  priority: async () => {
    const slot = await aSlot('slot-1');
    await workspace.api.put(`/agents/${slot.id}`, { name: newId(), taskTypes: ['polled'] });
    const given = { agentId: slot.id, taskType: 'polled' };
    const older = await scene.task({ ...given, priority: 1 });
    const newer = await scene.task({ ...given, priority: 1 });
    const urgent = await scene.task({ ...given, priority: 9 });
    const order: string[] = [];
    for (let n = 0; n < 3; n++) {
      const { id } = await scene.claim(slot);
      await slot.api.post(`/agent-tasks/${id}/complete`);
      order.push(id);
    }
    expect(order).toEqual([urgent, older, newer]);
  },

  oneAtATime: async () => {
    const slot = await aSlot('slot-1');
    const tasks = [await scene.task({ agentId: slot.id }), await scene.task({ agentId: slot.id })];
    const claim = () =>
      slot.api.post<{ tasks: unknown[]; reason?: string }>(`/agents/${slot.id}/claim`, {
        maxTasks: 2,
      });
    expect((await claim()).body.tasks).toHaveLength(1);
    expect((await claim()).body).toMatchObject({ tasks: [], reason: 'agent_full' });
    expect(tasks).toHaveLength(2);
  },

  patch: async () => {
    for (const status of ['in-progress', 'review', 'done', 'blocked', 'todo']) {
      expect(await answerOf('PATCH', `/api/tasks/${newId()}`, { status })).toEqual(ABSENT);
    }
    const { id, agent } = await scene.held();
    const own = await agent.api.patch(`/agent-tasks/${id}`, { status: 'COMPLETED' });
    expect([own.status, own.body['code']]).toEqual([401, 'wrong_token_kind']);
  },

  instructions: async () => {
    const given = {
      instructions: 'Complete the task as described above.',
      steps: ['Read the changes', 'Comment on them'],
      deliverables: ['A summary of what was accomplished'],
    };
    const id = await scene.task(given);
    expect(await scene.read(id)).toMatchObject(given);
  },
});
