import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#lib/kernel';
import { anAgent, aWorkspace } from '../../../../test/support/factories.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aHeldTask } from '../../../../test/support/task-factories.js';
import { checkInvariants } from './check.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  const workspaceId = await aWorkspace(db.owner);
  const agentId = await anAgent(db.owner, workspaceId, { maxConcurrentTasks: 2 });
  const { taskId, runId } = await aHeldTask(db.owner, { workspaceId, agentId });
  await db.owner.query(
    `INSERT INTO agent_heartbeats (workspace_id, agent_id, status) VALUES ($1, $2, 'healthy')`,
    [workspaceId, agentId],
  );
  await db.owner.query(
    `INSERT INTO session_spawns (workspace_id, run_id, task_id, agent_id) VALUES ($1, $2, $3, $4)`,
    [workspaceId, runId, taskId, agentId],
  );
  await db.owner.query(
    `INSERT INTO task_log_lines (workspace_id, task_id, event, actor_kind) VALUES ($1, $2, 'a line', 'run')`,
    [workspaceId, taskId],
  );
  await db.owner.query(`INSERT INTO artifact_usage (workspace_id) VALUES ($1)`, [workspaceId]);
  await db.owner.query(
    `INSERT INTO artifacts (workspace_id, id, task_id, run_id, name, media_type, size_bytes, sha256)
     VALUES ($1, uuidv7(), $2, $3, 'a.txt', 'text/plain', 0, repeat('0', 64))`,
    [workspaceId, taskId, runId],
  );
});

afterAll(() => db.drop());

/**
 * Sets a column of all rows of a table, with constraints and triggers disabled. @returns the
 * earlier value
 */
async function set(table: string, column: string, value: unknown): Promise<unknown> {
  const client = await db.owner.connect();
  try {
    await client.query('BEGIN');
    await client.query('SET LOCAL session_replication_role = replica');
    const { rows } = await client.query<{ before: unknown }>(
      `SELECT ${column} AS before FROM ${table} LIMIT 1`,
    );
    await client.query(`UPDATE ${table} SET ${column} = $1`, [value]);
    await client.query('COMMIT');
    return rows[0]?.before;
  } finally {
    client.release();
  }
}

async function orphans() {
  const outcomes = await checkInvariants(db.serviceUrl);
  return outcomes.find(({ name }) => name === 'no_orphans')?.violations;
}

describe('No row refers to one that is missing', () => {
  test.each([
    ['agent_tasks', 'workspace_id', 'workspaces'],
    ['agent_tasks', 'created_by', 'users'],
    ['agent_tasks', 'agent_id', 'agents'],
    ['agent_tasks', 'run_id', 'task_runs'],
    ['task_runs', 'task_id', 'agent_tasks'],
    ['task_runs', 'agent_id', 'agents'],
    ['session_spawns', 'run_id', 'task_runs'],
    ['agent_heartbeats', 'agent_id', 'agents'],
    ['journal', 'task_id', 'agent_tasks'],
    ['journal', 'agent_id', 'agents'],
    ['task_log_lines', 'task_id', 'agent_tasks'],
    ['task_log_lines', 'agent_id', 'agents'],
    ['artifacts', 'task_id', 'agent_tasks'],
    ['artifacts', 'run_id', 'task_runs'],
  ])('a missing reference of %s.%s is found', async (child, column, parent) => {
    expect(await orphans()).toEqual([]);
    const missing = newId();
    const before = await set(child, column, missing);
    const subject = `${parent} ${missing}`;
    const problem = `is missing, and ${child} has rows of it`;
    expect(await orphans()).toContainEqual({ subject, problem });
    await set(child, column, before);
  });
});
