import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Transaction } from '#lib/database';
import { newId } from '#lib/kernel';
import { anAgent, aWorkspace } from '../../../../test/support/factories.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aHeldTask } from '../../../../test/support/task-factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { noteProviderLimit } from './note-provider-limit.sql.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

it('reports of several models at once take turns, and none is repeated', async () => {
  const workspaceId = await aWorkspace(db.owner);
  const agentId = await anAgent(db.owner, workspaceId);
  const { runId } = await aHeldTask(db.owner, { workspaceId, agentId });
  const note = (tx: Transaction, model: string) =>
    tx.rows(noteProviderLimit, [
      workspaceId,
      newId(),
      'openai',
      model,
      `^${model}$`,
      'quota_exhausted',
      60,
      runId,
      agentId,
      false,
      model,
      `^${model}$`,
    ]);
  const otherWaits = () =>
    waitFor('the other report to wait', async () => {
      const { rowCount } = await db.owner.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      return rowCount === 1;
    });
  const tenant = db.database.tenant(workspaceId);
  const attempts = { ofBoth: 0, ofOne: 0 };
  let ofOne: Promise<void> | undefined;
  await tenant.transaction(async (tx) => {
    attempts.ofBoth++;
    await note(tx, 'first');
    ofOne ??= tenant.transaction(async (other) => {
      attempts.ofOne++;
      await note(other, 'second');
    });
    if (attempts.ofBoth === 1) await otherWaits();
    await note(tx, 'second');
  });
  await ofOne;
  expect(attempts).toEqual({ ofBoth: 1, ofOne: 1 });
  const { rows } = await db.owner.query(
    'SELECT model FROM provider_limits WHERE workspace_id = $1 ORDER BY model',
    [workspaceId],
  );
  expect(rows).toEqual([{ model: 'first' }, { model: 'second' }]);
});
