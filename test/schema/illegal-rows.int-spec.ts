import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { anAgent } from '../support/factories.js';
import { aHeldTask, aTask, type FreeStatus, type HeldState } from '../support/task-factories.js';
import { ARTIFACT_ATTEMPTS } from './illegal-artifacts.js';
import { CHANGE_ATTEMPTS } from './illegal-changes.js';
import { CODE_ATTEMPTS } from './illegal-code.js';
import { CREDENTIAL_ATTEMPTS } from './illegal-credentials.js';
import { NETWORK_ATTEMPTS } from './illegal-networks.js';
import { SCHEDULE_ATTEMPTS } from './illegal-schedules.js';
import { ATTEMPTS } from './illegal-rows.js';
import { aTenant, refusalOf, type Tenant, tryAs } from './tenants.js';

let db: TestDatabase;
let tenant: Tenant;

beforeAll(async () => {
  db = await createTestDatabase();
  tenant = await aTenant(db.owner);
});

afterAll(() => db.drop());

function withIds(sql: string): string {
  const ids: Record<string, string> = {
    workspace: tenant.workspaceId,
    task: tenant.taskId,
    held: tenant.heldTaskId,
    waiting: tenant.waitingTaskId,
    run: tenant.runId,
    agent: tenant.agentId,
  };
  return sql.replace(/\$(\w+)/g, (_match, name: string) => `'${ids[name] ?? `no id ${name}`}'`);
}

const ALL = {
  ...ATTEMPTS,
  ...ARTIFACT_ATTEMPTS,
  ...CHANGE_ATTEMPTS,
  ...CODE_ATTEMPTS,
  ...CREDENTIAL_ATTEMPTS,
  ...NETWORK_ATTEMPTS,
  ...SCHEDULE_ATTEMPTS,
};

describe.each(Object.entries(ALL))('an illegal change of %s', (_what, attempts) => {
  it.each(attempts)('an illegal change is refused: %s (%s)', async (sql, constraint) => {
    const refused = await refusalOf(tryAs(db.owner, null, (client) => client.query(withIds(sql))));
    expect(refused).toMatchObject({ constraint });
  });
});

it('the illegal rows cover every CHECK', async () => {
  const { rows } = await db.owner.query<{ name: string }>(
    `SELECT conname AS name FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace`,
  );
  const tried = new Set(Object.values(ALL).flatMap((list) => list.map(([, by]) => by)));
  expect(rows.map((row) => row.name).filter((name) => !tried.has(name))).toEqual([]);
  expect(rows.length).toBeGreaterThan(20);
});

it('agents.status follows its source columns, and nobody can write it', async () => {
  const refused = await refusalOf(db.owner.query(`UPDATE agents SET status = 'IDLE'`));
  expect(refused).toMatchObject({ code: '428C9' });
  const idle = await anAgent(db.owner, tenant.workspaceId);
  const draining = await anAgent(db.owner, tenant.workspaceId, { lifecycle: 'DRAINING' });
  const { rows } = await db.owner.query<{ id: string; status: string }>(
    'SELECT id, status FROM agents WHERE id = ANY ($1)',
    [[idle, draining, tenant.agentId]],
  );
  expect(Object.fromEntries(rows.map(({ id, status }) => [id, status]))).toEqual({
    [idle]: 'IDLE',
    [draining]: 'DRAINING',
    [tenant.agentId]: 'WORKING',
  });
});

describe('a legal row', () => {
  it.each<FreeStatus>(['PENDING', 'PAUSED', 'COMPLETED', 'FAILED', 'ABORTED', 'ARCHIVED'])(
    'a task that is %s is accepted',
    async (status) => {
      const id = await aTask(db.owner, tenant.workspaceId, { status });
      expect(await logOf(id)).toMatchObject({ last: status, is_chain: true });
    },
  );

  it.each<HeldState>(['ASSIGNED', 'WORKING', 'STALE'])(
    'a run that is %s is accepted',
    async (state) => {
      const { taskId } = await aHeldTask(db.owner, tenant, { state });
      const last = state === 'ASSIGNED' ? 'ASSIGNED' : 'RUNNING';
      expect(await logOf(taskId)).toMatchObject({ last, is_chain: true });
    },
  );
});

/**
 * Returns the last status in a task's log, and whether the log has one row for each version without
 * gaps.
 */
async function logOf(taskId: string): Promise<Record<string, unknown> | undefined> {
  const { rows } = await db.owner.query<Record<string, unknown>>(
    `SELECT (array_agg(new_status ORDER BY task_version))[count(*)] AS last,
       bool_and(task_version = n AND previous_status IS NOT DISTINCT FROM before) AND
         count(*) = (SELECT version FROM agent_tasks WHERE id = $1) AS is_chain
     FROM (SELECT *, row_number() OVER w AS n, lag(new_status) OVER w AS before
       FROM agent_task_logs WHERE task_id = $1 WINDOW w AS (ORDER BY id)) l`,
    [taskId],
  );
  return rows[0];
}
