import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp } from '../../../../test/support/app.js';
import { StandInGateway } from './testing/stand-in-gateway.js';

let gateway: StandInGateway;

beforeAll(async () => {
  gateway = await StandInGateway.start();
});
afterAll(() => gateway.stop());

it('a stopped server waits for the answer to a current spawn call', async () => {
  const server = await startTestApp({
    ...gateway.env,
    SPAWN_ATTEMPTS: '1',
    COORDINATOR_LOCK_TTL_SECONDS: '3',
  });
  const { api } = await server.newWorkspace();
  const headers = { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` };
  await apiClient(server.url, headers).post('/gateway/heartbeat', {
    ...gateway.nextHeartbeat(),
    capacity: 1,
    running: 0,
    queued: 0,
    sessions: [],
  });
  await api.put(`/agents/${newId()}`, { name: 'Pushed', mode: 'push', command: ['node'] });
  gateway.behaviour = { kind: 'spawn', afterMs: 1_000 };
  const task = await api.post<{ id: string }>('/agent-tasks', { title: 'T', taskType: 'test' });
  await gateway.until(() => gateway.spawns.length === 1);
  await server.app.close();
  const { rows } = await server.db.owner.query(
    'SELECT id, status, generation, run_id, session_key FROM agent_tasks WHERE id = $1',
    [task.body.id],
  );
  const [spawn] = gateway.spawns;
  const session = gateway.sessions.get(spawn?.runId ?? '');
  expect(rows).toEqual([
    expect.objectContaining({
      status: 'RUNNING',
      generation: 1,
      run_id: spawn?.runId,
      session_key: session?.sessionKey,
    }),
  ]);
  expect(gateway.stopped).toEqual([]);
  await server.db.drop();
});
