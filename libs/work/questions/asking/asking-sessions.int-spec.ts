import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { StandInGateway } from '../../runs/sessions/testing/stand-in-gateway.js';

let gateway: StandInGateway;
let server: TestApp;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  server = await startTestApp({ ...gateway.env });
});
afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

it('a session asks and stops, and another one is spawned at once with the answer', async () => {
  gateway.behaviour = { kind: 'spawn' };
  const { api } = await server.newWorkspace();
  const asGateway = apiClient(server.url, {
    authorization: `Bearer ${gateway.token({ sub: gateway.id })}`,
  });
  const heartbeat = (sessions: object[] = []) =>
    asGateway.post<{ stop: object[] }>('/gateway/heartbeat', {
      ...gateway.nextHeartbeat(),
      capacity: 10,
      running: sessions.length,
      queued: 0,
      sessions,
    });
  await heartbeat();
  const agent = { name: 'Pushed', mode: 'push', command: ['node'] };
  await api.put(`/agents/${newId()}`, agent);
  const { body: task } = await api.post<{ id: string }>('/agent-tasks', {
    title: 'A task',
    taskType: 'test',
  });
  const spawned = (count: number) =>
    waitFor('a session', () =>
      gateway.spawns.length >= count ? gateway.spawns.at(-1) : undefined,
    );
  const first = await spawned(1);
  expect(first.context).not.toHaveProperty('answers');
  await waitFor('it to run', async () => {
    const { body } = await api.get(`/agent-tasks/${task.id}`);
    return body['status'] === 'RUNNING';
  });
  const session = apiClient(server.url, { authorization: `Bearer ${first.runToken}` });
  const asked = await session.post<{ id: string }>(`/runs/${first.runId}/questions`, {
    prompt: 'Which?',
    deadlineSeconds: 600,
    onDeadline: 'fail',
    checkpointData: { at: 7 },
  });
  expect(asked.status).toBe(201);
  const held = { runId: first.runId, sessionKey: 'k', status: 'RUNNING' };
  expect((await heartbeat([held])).body.stop).toMatchObject([{ runId: first.runId }]);
  expect((await api.post(`/questions/${asked.body.id}/answer`, { answer: 'This' })).status).toBe(
    200,
  );
  const second = await spawned(2);
  expect(second).toMatchObject({
    taskId: task.id,
    generation: 2,
    context: { checkpointData: { at: 7 }, answers: [{ prompt: 'Which?', answer: 'This' }] },
  });
});
