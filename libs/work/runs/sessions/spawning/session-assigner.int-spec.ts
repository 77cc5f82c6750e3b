import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../../test/support/api-client.js';
import { startTestApp, type TestApp } from '../../../../../test/support/app.js';
import { StandInGateway } from '../testing/stand-in-gateway.js';
import { SessionAssigner } from './session-assigner.js';

let gateway: StandInGateway;
let server: TestApp;
let assigner: SessionAssigner;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  // Only the test sweeps here.
  server = await startTestApp({ ...gateway.env, ROLES: 'api' });
  assigner = server.app.get(SessionAssigner, { strict: false });
});

afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

const leads = () => Promise.resolve();
const deposed = () => Promise.reject(new Error('another one leads'));

async function stateOfSpawn(workspaceId: string): Promise<string | undefined> {
  const { rows } = await server.db.owner.query<{ state: string }>(
    'SELECT state FROM session_spawns WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows[0]?.state;
}

it('a session without a run takes up room at the gateway', async () => {
  const { api } = await server.newWorkspace();
  const headers = { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` };
  const heartbeat = (counts: { running: number; queued: number }) =>
    apiClient(server.url, headers).post('/gateway/heartbeat', {
      ...gateway.nextHeartbeat(),
      capacity: 2,
      sessions: [],
      ...counts,
    });
  await api.put(`/agents/${newId()}`, { name: 'Pushed', mode: 'push', command: ['node'] });
  const { body } = await api.post<{ id: string }>('/agent-tasks', { title: 'T', taskType: 'test' });
  await heartbeat({ running: 1, queued: 1 });
  expect((await assigner.sweep(leads, 10)).moved).toBe(0);
  await heartbeat({ running: 1, queued: 0 });
  expect((await assigner.sweep(leads, 10)).moved).toBe(1);
  await api.post(`/agent-tasks/${body.id}/cancel`, {});
  await assigner.sweep(leads, 10);
});

it('a server that no longer leads closes no intent to spawn', async () => {
  const { id: workspaceId, api } = await server.newWorkspace();
  const headers = { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` };
  await apiClient(server.url, headers).post('/gateway/heartbeat', {
    ...gateway.nextHeartbeat(),
    capacity: 5,
    running: 0,
    queued: 0,
    sessions: [],
  });
  await api.put(`/agents/${newId()}`, { name: 'Pushed', mode: 'push', command: ['node'] });
  const { body } = await api.post<{ id: string }>('/agent-tasks', { title: 'T', taskType: 'test' });
  expect((await assigner.sweep(leads, 10)).moved).toBe(1);
  expect(await stateOfSpawn(workspaceId)).toBe('PENDING');
  const cancel = await api.post(`/agent-tasks/${body.id}/cancel`, { reason: 'Not needed' });
  expect(cancel.status).toBe(200);

  await expect(assigner.sweep(deposed, 10)).rejects.toThrow('another one leads');
  expect(await stateOfSpawn(workspaceId)).toBe('PENDING');
  await assigner.sweep(leads, 10);
  expect(await stateOfSpawn(workspaceId)).toBe('CANCELLED');
});
