import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { StandInGateway } from './testing/stand-in-gateway.js';

let gateway: StandInGateway;
let server: TestApp;
let workspace: TestWorkspace;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  server = await startTestApp(gateway.env);
});

beforeEach(async () => {
  gateway.behaviour = { kind: 'spawn' };
  workspace = await server.newWorkspace();
  await heartbeat({ draining: false });
  const agent = { name: 'Pushed', mode: 'push', command: ['node', 'session.js'] };
  expect((await workspace.api.put(`/agents/${newId()}`, agent)).status).toBe(201);
});

afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

const asGateway = () =>
  apiClient(server.url, { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` });

async function heartbeat(values: { draining: boolean }): Promise<void> {
  const sessions = [...gateway.sessions].map(([runId, { sessionKey }]) => ({
    runId,
    sessionKey,
    status: 'RUNNING',
  }));
  const { status } = await asGateway().post('/gateway/heartbeat', {
    ...gateway.nextHeartbeat(),
    capacity: 100,
    running: 0,
    queued: 0,
    sessions,
    ...values,
  });
  expect(status).toBe(200);
}

const drained = (runId: string, event: 'exited' | 'failed') =>
  givenUp(runId, event, { class: 'drained', message: 'The gateway is shutting down' });

const paused = (runId: string, event: 'exited' | 'failed') =>
  givenUp(runId, event, { class: 'paused', message: 'Ended by SIGTERM after it was asked to end' });

async function givenUp(
  runId: string,
  event: 'exited' | 'failed',
  error: { class: string; message: string },
) {
  const report = { runId, sessionKey: 'k', at: new Date().toISOString(), event, error };
  const output = event === 'exited' ? { exitCode: 1, output: 'its last words' } : {};
  const { body } = await asGateway().post<{ results: object[] }>('/gateway/sessions', {
    gatewayId: gateway.id,
    bootId: gateway.bootId,
    reports: [{ ...report, ...output }],
  });
  return body.results;
}

/** A task without retries, whose session has this status. */
async function aTask(status: 'RUNNING' | 'ASSIGNED'): Promise<{ id: string; runId: string }> {
  const wanted = { title: 'A task', taskType: 'test', maxRetries: 0 };
  const { body } = await workspace.api.post<{ id: string }>('/agent-tasks', wanted);
  return waitFor(`a session of a task that is ${status}`, async () => {
    const task = await taskOf(body.id);
    const runId = String(task['runId']);
    return task['status'] === status && gateway.sessions.has(runId) && { id: body.id, runId };
  });
}

async function taskOf(id: string): Promise<Record<string, unknown>> {
  return (await workspace.api.get<Record<string, unknown>>(`/agent-tasks/${id}`)).body;
}

async function runOf(id: string): Promise<unknown> {
  const sql = 'SELECT state, end_reason FROM task_runs WHERE id = $1';
  return (await server.db.owner.query(sql, [id])).rows[0];
}

describe('a session that ends because its gateway drains', () => {
  it('a running session of a draining gateway releases its run', async () => {
    const { id, runId } = await aTask('RUNNING');
    await heartbeat({ draining: true });
    expect(await drained(runId, 'exited')).toEqual([{ runId, applied: true }]);
    expect(await taskOf(id)).toMatchObject({ abortReason: 'released', retryCount: 0 });
    expect(await runOf(runId)).toEqual({ state: 'RELEASED', end_reason: 'gateway_drained' });
    const { body: logs } = await workspace.api.get(`/agent-tasks/${id}/logs?event=session_output`);
    expect(logs).toMatchObject({ items: [{ message: 'its last words' }] });
    expect(await drained(runId, 'exited')).toEqual([expect.objectContaining({ runId })]);
    expect(await taskOf(id)).toMatchObject({ retryCount: 0 });
  });

  it('a session that a draining gateway never started returns its task to the queue', async () => {
    gateway.behaviour = { kind: 'spawn', status: 'QUEUED' };
    const { id, runId } = await aTask('ASSIGNED');
    await heartbeat({ draining: true });
    expect(await drained(runId, 'failed')).toEqual([{ runId, applied: true }]);
    expect(await taskOf(id)).toMatchObject({ status: 'PENDING', runId: null, retryCount: 0 });
    expect(await runOf(runId)).toEqual({ state: 'RELEASED', end_reason: 'gateway_drained' });
  });
});

describe('a session that ends because its task was paused', () => {
  const command = async (id: string, name: 'pause' | 'resume') =>
    expect((await workspace.api.post(`/agent-tasks/${id}/${name}`, {})).status).toBe(200);

  it('a session that ends for a pause releases its run, and the task stays paused', async () => {
    const { id, runId } = await aTask('RUNNING');
    await command(id, 'pause');
    expect(await paused(runId, 'exited')).toEqual([{ runId, applied: true }]);
    expect(await taskOf(id)).toMatchObject({ status: 'PAUSED', runId: null, retryCount: 0 });
    expect(await runOf(runId)).toEqual({ state: 'RELEASED', end_reason: 'paused' });
    expect(await paused(runId, 'exited')).toEqual([expect.objectContaining({ runId })]);
    await command(id, 'resume');
    expect(await taskOf(id)).toMatchObject({ retryCount: 0 });
  });

  it('a session that ends for a pause spends no attempt after a resume', async () => {
    const { id, runId } = await aTask('RUNNING');
    await command(id, 'pause');
    await command(id, 'resume');
    expect(await taskOf(id)).toMatchObject({ status: 'RUNNING', runId });
    expect(await paused(runId, 'exited')).toEqual([{ runId, applied: true }]);
    expect(await runOf(runId)).toEqual({ state: 'RELEASED', end_reason: 'paused' });
    await waitFor('its next run', async () => {
      const task = await taskOf(id);
      return task['generation'] === 2 && task['retryCount'] === 0;
    });
  });

  it('a session that a pause kept from starting releases its run', async () => {
    gateway.behaviour = { kind: 'spawn', status: 'QUEUED' };
    const { id, runId } = await aTask('ASSIGNED');
    await command(id, 'pause');
    expect(await paused(runId, 'failed')).toEqual([{ runId, applied: true }]);
    expect(await taskOf(id)).toMatchObject({ status: 'PAUSED', runId: null });
    expect(await runOf(runId)).toEqual({ state: 'RELEASED', end_reason: 'paused' });
  });
});
