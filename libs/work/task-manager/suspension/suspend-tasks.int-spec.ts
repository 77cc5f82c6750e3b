import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aUser, aWorkspace } from '../../../../test/support/factories.js';
import { aTask } from '../../../../test/support/task-factories.js';
import { suspendPausedTasks, resumeTasks } from './suspend-tasks.sql.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(() => db.drop());

it('tasks stay suspended while any pause of their type applies', async () => {
  const workspaceId = await aWorkspace(db.owner);
  const userId = await aUser(db.owner);
  await aTask(db.owner, workspaceId, { taskType: 'off' });
  const pause = (times: string) =>
    db.owner.query(
      `INSERT INTO pauses (workspace_id, id, task_type, reason, paused_by, created_at, until,
        ended_at)
       SELECT $1, uuidv7(), 'off', 'Tested', $2, now() - interval '1 hour', t.until, t.ended_at
       FROM (SELECT ${times}) AS t`,
      [workspaceId, userId],
    );
  const sweep = async () => {
    const suspended = await db.database.service.rows(suspendPausedTasks, [10]);
    const freed = await db.database.service.rows(resumeTasks, [10]);
    return { suspended: suspended.length, freed: freed.length };
  };
  await pause('NULL::timestamptz AS until, now() AS ended_at');
  await pause(`now() - interval '1 minute' AS until, NULL::timestamptz AS ended_at`);
  await pause('NULL::timestamptz AS until, NULL::timestamptz AS ended_at');
  expect(await sweep()).toEqual({ suspended: 1, freed: 0 });
  expect(await sweep()).toEqual({ suspended: 0, freed: 0 });
  await db.owner.query(`UPDATE pauses SET ended_at = now() WHERE ended_at IS NULL`);
  expect(await sweep()).toEqual({ suspended: 0, freed: 1 });
});
