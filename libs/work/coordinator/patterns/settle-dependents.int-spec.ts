import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aWorkspace } from '../../../../test/support/factories.js';
import { aDependency, aTask } from '../../../../test/support/task-factories.js';
import { settle } from './settle-dependents.js';

let db: TestDatabase;
let workspaceId: string;

beforeAll(async () => {
  db = await createTestDatabase();
});

beforeEach(async () => {
  await db.owner.query(`UPDATE agent_tasks SET dependents_unsettled = false`);
  workspaceId = await aWorkspace(db.owner);
});

afterAll(() => db.drop());

const settleNow = () => db.database.service.transaction((tx) => settle(tx, [500, null]));

const untold = (...ids: string[]) =>
  db.owner.query(`UPDATE agent_tasks SET dependents_unsettled = true WHERE id = ANY($1)`, [ids]);

/** Creates this many tasks that depend on a task. */
async function addDependents(workspace: string, taskId: string, count: number): Promise<void> {
  await db.owner.query(
    `WITH made AS (
       INSERT INTO agent_tasks (workspace_id, id, title, task_type, required_capabilities,
         capability_key,
         unmet_dependencies)
       SELECT workspace_id, uuidv7(), title, task_type, required_capabilities, capability_key, 1
       FROM agent_tasks, generate_series(1, $3) WHERE workspace_id = $1 AND id = $2
       RETURNING workspace_id, id)
     INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id, policy)
     SELECT workspace_id, id, $2, 'block' FROM made`,
    [workspace, taskId, count],
  );
  await db.owner.query(`UPDATE agent_tasks SET has_dependents = true WHERE id = $1`, [taskId]);
  await untold(taskId);
}

async function waiting(workspace: string): Promise<number> {
  const { rows } = await db.owner.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM agent_tasks WHERE workspace_id = $1 AND unmet_dependencies > 0`,
    [workspace],
  );
  return rows[0]?.n ?? 0;
}

describe('the propagation of ended tasks', () => {
  it('a pass limits the dependents that it takes', async () => {
    const count = 5_000;
    const fat = await aTask(db.owner, workspaceId, { status: 'COMPLETED' });
    await addDependents(workspaceId, fat, count);
    const other = await aWorkspace(db.owner);
    await addDependents(other, await aTask(db.owner, other, { status: 'COMPLETED' }), 1);

    const first = await settleNow();
    expect(first.more).toBe(true);
    expect(await waiting(other)).toBe(0);
    expect(first.prerequisites).toEqual([{ workspace_id: other }]);
    const left = await waiting(workspaceId);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(count);

    let passes = 1;
    for (let more = true; more && passes < 20; passes++) ({ more } = await settleNow());
    expect(await waiting(workspaceId)).toBe(0);
    expect(await settleNow()).toEqual({ prerequisites: [], more: false, released: [] });
  });

  it('the propagation ends for failed tasks that wait for each other', async () => {
    const ids = [
      await aTask(db.owner, workspaceId, { status: 'FAILED' }),
      await aTask(db.owner, workspaceId, { status: 'FAILED' }),
    ] as const;
    await aDependency(db.owner, workspaceId, { taskId: ids[0], dependsOnId: ids[1] });
    await aDependency(db.owner, workspaceId, {
      taskId: ids[1],
      dependsOnId: ids[0],
      policy: 'fail',
    });
    await untold(...ids);
    expect((await settleNow()).prerequisites).toHaveLength(2);
    expect((await settleNow()).prerequisites).toEqual([]);
  });

  it('a task that fails with one prerequisite learns of the others', async () => {
    const done = await aTask(db.owner, workspaceId, { status: 'COMPLETED' });
    const failed = await aTask(db.owner, workspaceId, { status: 'FAILED' });
    const task = await aTask(db.owner, workspaceId);
    await aDependency(db.owner, workspaceId, { taskId: task, dependsOnId: done });
    await aDependency(db.owner, workspaceId, {
      taskId: task,
      dependsOnId: failed,
      policy: 'fail',
    });
    await untold(done, failed);
    expect(await settleNow()).toMatchObject({ more: false, released: [] });
    const { rows } = await db.owner.query(
      `SELECT status, failure_reason, unmet_dependencies FROM agent_tasks WHERE id = $1`,
      [task],
    );
    expect(rows).toEqual([
      { status: 'FAILED', failure_reason: 'dependency_failed', unmet_dependencies: 1 },
    ]);
    expect((await settleNow()).prerequisites).toEqual([]);
  });
});
