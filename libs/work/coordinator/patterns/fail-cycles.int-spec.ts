import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp } from '../../../../test/support/app.js';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { aDependency } from '../../../../test/support/task-factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { Scene } from '../testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  // This server has no coordinator: sweeps run only when a test asks for them.
  server = await soundServer();
});

afterAll(() => server.stop());

/** Makes the first task wait for the second, and bypasses the check that would refuse a cycle. */
async function insertEdge(
  taskId: string,
  dependsOnId: string,
  policy?: 'block' | 'fail' | 'ignore',
) {
  await aDependency(server.db.owner, scene.id, { taskId, dependsOnId, policy });
}

async function tasks(count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => scene.task()));
}

async function ring(ids: readonly string[]): Promise<void> {
  for (const [at, id] of ids.entries()) await insertEdge(id, ids[(at + 1) % ids.length] as string);
}

const standing = async (id: string) => {
  const { status, failureReason } = await scene.read(id);
  return failureReason === null ? status : `${String(status)} ${String(failureReason)}`;
};

const FAILED = 'FAILED dependency_cycle';

describe('a cycle of dependencies that slipped past the check', () => {
  beforeAll(async () => {
    scene = await Scene.of(server);
  });

  it('tasks of a cycle fail, with their path in logs and an event', async () => {
    const [a, b, c] = (await tasks(3)).sort() as [string, string, string];
    const bystander = await scene.task({ dependsOn: [await scene.task()] });
    await ring([a, b, c]);
    expect((await scene.recover())['cyclesFailed']).toBe(1);
    for (const id of [a, b, c]) expect(await standing(id)).toBe(FAILED);
    expect(await standing(bystander)).toBe('PENDING');

    const [log] = (await scene.logs(a)).filter(({ level }) => level === 'ERROR');
    expect(log?.message).toBe(`It waits for itself: ${a} → ${b} → ${c} → ${a}`);
    const events = await scene.events('task.dependency_cycle');
    expect(events).toMatchObject([
      { path: [a, b, c, a], taskIds: [a, b, c], length: 3, ownerIds: [scene.workspace.userId] },
    ]);
    const [line, ...more] = await scene.coordinatorLogs('dependency_cycle');
    expect(line).toMatchObject({ level: 'ERROR', details: { path: [a, b, c, a], length: 3 } });
    expect(more).toEqual([]);
    // The end of the tasks was propagated to the dependents, so nothing is left to do.
    const again = await scene.recover();
    expect(again).toMatchObject({ cyclesFailed: 0, prerequisitesSettled: 0 });
    await scene.holdsEverything();
  });

  it('cycles are found apart, nested and in sequence', async () => {
    scene = await Scene.of(server);
    const [a, b, c, d, e, f, g, h] = (await tasks(8)) as [
      ...[string, string, string, string],
      ...[string, string, string, string],
    ];
    await ring([a, b]);
    await ring([c, d, e, f]);
    await insertEdge(c, e);
    await ring([g, h]);
    await insertEdge(c, g);
    expect((await scene.recover())['cyclesFailed']).toBe(3);
    for (const id of [a, b, c, d, e, f, g, h]) expect(await standing(id)).toBe(FAILED);
    const lengths = (await scene.events('task.dependency_cycle')).map((event) => event['length']);
    expect(lengths.sort()).toEqual([2, 2, 4]);
  });

  it('a cycle of 1,000 tasks is found', async () => {
    scene = await Scene.of(server);
    const batch = Array.from({ length: 1_000 }, (_, n) => ({ title: `t ${n}`, taskType: 'ring' }));
    await scene.workspace.api.post('/agent-tasks/batch', { tasks: batch });
    await scene.sql(
      `INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id)
       SELECT workspace_id, id, coalesce(lead(id) OVER w, first_value(id) OVER w)
       FROM agent_tasks WHERE workspace_id = $1 WINDOW w AS (ORDER BY id)`,
      scene.id,
    );
    const counts = await scene.recover();
    // The edges were written without the counts beside them, so a repair fixes the counts first.
    expect(counts).toMatchObject({ cyclesFailed: 1, staleStatesFixed: 2_000 });
    const { rows } = await scene.sql(
      `SELECT failure_reason, count(*)::int FROM agent_tasks WHERE workspace_id = $1 GROUP BY 1`,
      scene.id,
    );
    expect(rows).toEqual([{ failure_reason: 'dependency_cycle', count: 1_000 }]);
    const [event] = await scene.events('task.dependency_cycle');
    expect(event).toMatchObject({ length: 1_000 });
    expect(event?.['path']).toHaveLength(1_001);
    await scene.holdsEverything();
  });

  it('dependents of a failed cycle follow their policies', async () => {
    scene = await Scene.of(server);
    const [a, b] = (await tasks(2)) as [string, string];
    await ring([a, b]);
    const [waits, fails, goesOn] = [
      await scene.task({ dependsOn: [{ taskId: a, policy: 'block' }] }),
      await scene.task({ dependsOn: [{ taskId: a, policy: 'fail' }] }),
      await scene.task({ dependsOn: [{ taskId: a, policy: 'ignore' }] }),
    ];
    await scene.recover();
    expect(await standing(waits)).toBe('PENDING');
    expect(await standing(fails)).toBe('FAILED dependency_failed');
    expect(await scene.read(goesOn)).toMatchObject({ status: 'PENDING', unmetDependencies: 0 });
  });

  it('a cycle stays whole while one of its tasks is held', async () => {
    scene = await Scene.of(server);
    const ids = (await tasks(3)) as [string, string, string];
    await ring(ids);
    const client = await server.db.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM agent_tasks WHERE id = $1 FOR UPDATE', [ids[1]]);
      expect((await scene.recover())['cyclesFailed']).toBe(0);
      await client.query('ROLLBACK');
    } finally {
      client.release();
    }
    for (const id of ids) expect(await standing(id)).toBe('PENDING');
    expect((await scene.recover())['cyclesFailed']).toBe(1);
  });

  it('a user can break the cycle after a retry', async () => {
    scene = await Scene.of(server);
    const [a, b] = (await tasks(2)) as [string, string];
    await ring([a, b]);
    await scene.recover();
    for (const id of [a, b]) await scene.workspace.api.post(`/agent-tasks/${id}/retry`, {});
    const broken = await scene.workspace.api.delete(`/agent-tasks/${a}/dependencies/${b}`);
    expect(broken.status).toBe(200);
    expect((await scene.recover())['cyclesFailed']).toBe(0);
    expect(await scene.read(a)).toMatchObject({ status: 'PENDING', unmetDependencies: 0 });
  });

  it('tasks wait in no cycle if one of them is paused or has ended', async () => {
    scene = await Scene.of(server);
    const [a, b, c, d] = (await tasks(4)) as [string, string, string, string];
    await ring([a, b]);
    await ring([c, d]);
    await scene.workspace.api.post(`/agent-tasks/${b}/pause`, {});
    await scene.workspace.api.post(`/agent-tasks/${d}/cancel`, {});
    expect((await scene.recover())['cyclesFailed']).toBe(0);
    await scene.workspace.api.post(`/agent-tasks/${b}/resume`, {});
    expect((await scene.recover())['cyclesFailed']).toBe(1);
    expect([await standing(a), await standing(b), await standing(c)]).toEqual([
      FAILED,
      FAILED,
      'PENDING',
    ]);
  });

  it('the coordinator finds a cycle by itself, at the interval of searches', async () => {
    const env = { COORDINATOR_CRON: '0 0 0 29 2 *', RECONCILE_INTERVAL_SECONDS: '1' };
    const led = await startTestApp(env);
    try {
      const own = await Scene.of(led);
      const [a, b] = [await own.task(), await own.task()];
      await aDependency(led.db.owner, own.id, { taskId: a, dependsOnId: b });
      await aDependency(led.db.owner, own.id, { taskId: b, dependsOnId: a });
      await waitFor('the tasks to fail', async () => (await own.read(b))['status'] === 'FAILED');
    } finally {
      await led.stop();
    }
  });
});
