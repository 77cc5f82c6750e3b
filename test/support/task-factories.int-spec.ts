import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sharedServer, type TestServer, type TestWorkspace } from './shared-server.js';
import { aDependency, aHeldTask, aTask } from './task-factories.js';

const ROUNDS = 40;
/** Counts of inconsistencies that a sweep has found. */
const REPAIRS = ['orphanedTasksRecovered', 'staleStatesFixed'];

let server: TestServer;
let workspace: TestWorkspace;
beforeAll(async () => {
  server = await sharedServer();
  workspace = await server.newWorkspace();
});
afterAll(() => server?.stop());

async function sweep(): Promise<number[]> {
  const { body } = await workspace.api.post<{ counts: Record<string, number> }>(
    '/coordinator/recover',
  );
  return REPAIRS.map((name) => body.counts[name] as number);
}

async function writeTasks(): Promise<void> {
  const { owner } = server.db;
  for (let round = 0; round < ROUNDS; round++) {
    const agentId = (await workspace.newAgent({ maxConcurrentTasks: 3 })).id;
    for (const state of ['ASSIGNED', 'WORKING', 'STALE'] as const) {
      await aHeldTask(owner, { workspaceId: workspace.id, agentId }, { state });
    }
    const [taskId, dependsOnId] = [
      await aTask(owner, workspace.id),
      await aTask(owner, workspace.id),
    ];
    await aDependency(owner, workspace.id, { taskId, dependsOnId });
  }
}

it('a sweep finds nothing to repair at any moment while tasks are written', async () => {
  let writing = true;
  const written = writeTasks().finally(() => (writing = false));
  const repairs = [];
  while (writing) repairs.push(await sweep());
  await written;
  expect(repairs.length).toBeGreaterThan(1);
  expect(new Set(repairs.map(String))).toEqual(new Set(['0,0']));
});
