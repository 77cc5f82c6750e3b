import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { StandInGateway } from '../../../work/runs/sessions/testing/stand-in-gateway.js';

let gateway: StandInGateway;
let server: TestApp;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  server = await startTestApp({
    ...gateway.env,
    SPAWNS_PER_MINUTE: '2',
    COORDINATOR_LOCK_TTL_SECONDS: '3',
  });
});
afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

/** Has a push agent that could take all of its tasks. */
async function aWorkspace(): Promise<string> {
  const { id, api } = await server.newWorkspace();
  const agent = { name: 'Pushed', mode: 'push', command: ['node'], maxConcurrentTasks: 9 };
  expect((await api.put(`/agents/${newId()}`, agent)).status).toBe(201);
  const tasks = Array.from({ length: 4 }, () => ({ title: 'T', taskType: 'test' }));
  expect((await api.post('/agent-tasks/batch', { tasks })).status).toBe(201);
  return id;
}

async function heartbeat(): Promise<void> {
  const headers = { authorization: `Bearer ${gateway.token({ sub: gateway.id })}` };
  const { status } = await apiClient(server.url, headers).post('/gateway/heartbeat', {
    ...gateway.nextHeartbeat(),
    capacity: 100,
    running: 0,
    queued: 0,
    sessions: [],
  });
  expect(status).toBe(200);
}

async function one<T extends object>(sql: string): Promise<T | undefined> {
  return (await server.db.owner.query<T>(sql)).rows[0];
}

// A cycle assigns all that it can in one transaction. Tasks without a run at its first spawn are
// held back.
const runs = async () => (await one<{ n: number }>('SELECT count(*)::int AS n FROM task_runs'))?.n;

it("all workspaces together spawn no more sessions a minute than the installation's rate", async () => {
  const workspaces = [await aWorkspace(), await aWorkspace()];
  // There is capacity only from here on.
  await heartbeat();
  await gateway.until(() => gateway.spawns.length === 2);
  expect(await runs()).toBe(2);
  expect(new Set(gateway.spawns.map(({ workspaceId }) => workspaceId))).toEqual(
    new Set(workspaces),
  );
  await server.db.owner.query(
    `UPDATE installation_spawn_allowance SET filled_at = filled_at - interval '30 seconds'`,
  );
  await gateway.until(() => gateway.spawns.length === 3);
  expect(await runs()).toBe(3);
  const left = await one<{ tokens: number }>('SELECT tokens FROM installation_spawn_allowance');
  expect(left?.tokens).toBeLessThan(1);
});
