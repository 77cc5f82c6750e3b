import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Sql } from '#lib/database';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAgent, aWorkspace } from '../../../../test/support/factories.js';
import { newestChanges } from '../reading/changes.sql.js';
import { dueAgentReviews } from '../reviewing/agent-reviews.sql.js';
import { claimStep, endSync } from './steps.sql.js';

const FINISHED = 5_000;

let db: TestDatabase;
let workspaceId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  workspaceId = await aWorkspace(db.owner);
  const repositoryId = newId();
  await db.owner.query(
    `INSERT INTO repositories (workspace_id, id, name, url) VALUES ($1, $2, 'shop', 'x')`,
    [workspaceId, repositoryId],
  );
  await db.owner.query(
    `WITH made AS (
       INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, completed_at, repository_id)
       SELECT $1, uuidv7(), 'T', 'test', 'COMPLETED', now(), $2 FROM generate_series(1, $3)
       RETURNING id)
     SELECT FROM made`,
    [workspaceId, repositoryId, FINISHED],
  );
  await db.owner.query(`UPDATE changes SET state = 'MERGED', submitted_at = now()`);
  await db.owner.query(
    `UPDATE changes SET state = 'PROVING', step = 'prove', step_due_at = now()
     WHERE task_id IN (SELECT task_id FROM changes ORDER BY task_id LIMIT 100)`,
  );
  await db.owner.query('VACUUM ANALYZE changes');
}, 150_000);
afterAll(() => db.drop());

async function planOf({ text }: Sql, values: string, mode: string): Promise<string> {
  const client = await db.owner.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SET plan_cache_mode = ${mode}`);
    await client.query(`PREPARE planned AS ${text}`);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (COSTS OFF) EXECUTE planned (${values})`,
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  } finally {
    client.release(true);
  }
}

it.each(['force_custom_plan', 'force_generic_plan'])(
  'finished changes cost a claim of a step and the list of a state nothing (%s)',
  async (mode) => {
    const claim = await planOf(claimStep, `'${workspaceId}', '${newId()}', false`, mode);
    expect(claim).toContain('using changes_step_idx');
    const values = `'${workspaceId}', NULL, 50, 'PROVING'`;
    const list = await planOf(newestChanges.state, values, mode);
    expect(list).toContain('using changes_state_idx');
    const reviews = await planOf(dueAgentReviews, `50, NULL`, mode);
    expect(reviews).toContain('using changes_reviewing_idx');
    for (const plan of [claim, list, reviews]) expect(plan).not.toContain('Seq Scan on changes');
  },
);

it('many pull requests are looked at less often, and finished changes cost that nothing', async () => {
  const agentId = await anAgent(db.owner, workspaceId);
  await db.owner.query(`UPDATE repositories SET forge = 'github', credential_kind = 'token'`);
  await db.owner.query(`UPDATE changes SET pull_request = 1`);
  await db.owner.query(
    `UPDATE changes SET state = 'IN_REVIEW', step = 'sync', step_agent_id = $1, step_until = now()
     WHERE step IS NOT NULL`,
    [agentId],
  );
  await db.owner.query('ANALYZE changes');
  const { rows } = await db.owner.query<{ task_id: string; step_generation: number }>(
    `SELECT task_id, step_generation FROM changes WHERE step IS NOT NULL LIMIT 1`,
  );
  const { task_id: id, step_generation: generation } = rows[0]!;
  const params = [workspaceId, id, agentId, generation, 60];
  const plan = await planOf(
    endSync,
    params.map((value) => `'${value}'`).join(),
    'force_custom_plan',
  );
  expect(plan).not.toContain('Seq Scan on changes');
  await db.owner.query(endSync.text, params);
  const due = await db.owner.query<{ seconds: number }>(
    `SELECT extract(epoch FROM step_due_at - now())::int AS seconds FROM changes WHERE task_id = $1`,
    [id],
  );
  expect(due.rows[0]?.seconds).toBeGreaterThan(290);
  expect(due.rows[0]?.seconds).toBeLessThanOrEqual(300);
});
