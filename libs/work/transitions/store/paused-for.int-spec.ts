import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aWorkspace } from '../../../../test/support/factories.js';
import { aTask } from '../../../../test/support/task-factories.js';

let db: TestDatabase;
let workspaceId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  workspaceId = await aWorkspace(db.owner);
});

afterAll(() => db.drop());

const ID = '01900000-0000-7000-8000-000000000001';

/** As servers of the previous version write it. */
async function pausedBy(id: string, by: string) {
  await db.owner.query(
    `UPDATE agent_tasks SET status = 'PAUSED', paused_at = now(), paused_by = $2 WHERE id = $1`,
    [id, by],
  );
  return pausedFor(id);
}

async function pausedFor(id: string) {
  const { rows } = await db.owner.query<{
    paused_for: string | null;
    paused_for_id: string | null;
  }>('SELECT paused_for, paused_for_id FROM agent_tasks WHERE id = $1', [id]);
  return [rows[0]?.paused_for, rows[0]?.paused_for_id];
}

test.each([
  ['user:1', 'request', null],
  ['api_key:1', 'request', null],
  ['run:1', 'question', null],
  ['agent:1', 'question', null],
  [`coordinator:budget:${ID}`, 'budget', ID],
  [`coordinator:provider:${ID}`, 'provider', ID],
])('a task that an older server pauses by %s is paused for %s', async (by, what, id) => {
  expect(await pausedBy(await aTask(db.owner, workspaceId), by)).toEqual([what, id]);
});

test('a task that an older server resumes has no pause reason', async () => {
  const id = await aTask(db.owner, workspaceId);
  await pausedBy(id, 'user:1');
  await db.owner.query(
    `UPDATE agent_tasks SET status = 'PENDING', paused_by = NULL WHERE id = $1`,
    [id],
  );
  expect(await pausedFor(id)).toEqual([null, null]);
});

test('a pause that is taken over through an older server belongs to the new author', async () => {
  const id = await aTask(db.owner, workspaceId);
  await pausedBy(id, `coordinator:budget:${ID}`);
  await db.owner.query(`UPDATE agent_tasks SET paused_by = 'user:1' WHERE id = $1`, [id]);
  expect(await pausedFor(id)).toEqual(['request', null]);
});
