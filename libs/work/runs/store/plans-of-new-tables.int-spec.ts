import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Sql } from '#lib/database';
import { newId } from '#lib/kernel';
import { takeHolds } from '#lib/transitions';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { SET_TENANT_PINNED } from '../../../platform/database/client/tenant-query.js';
import { completeAllRuns, completeRuns } from '../reports/complete-runs.sql.js';
import { startRun } from '../reports/start-run.sql.js';
import { claimOf } from './claim-tasks.sql.js';

/** Tables that a claim reads for its whole workspace, because they have few rows of each. */
const FEW_ROWS = /(?:pauses|projects|workspace_throttles|capability_sets|usage_budgets)\w* /;

let db: TestDatabase;
let app: pg.Client;

beforeAll(async () => {
  db = await createTestDatabase();
  app = new pg.Client({ connectionString: db.appUrl });
  await app.connect();
});

afterAll(async () => {
  await app.end();
  await db.drop();
});

/** The lines of a plan, as row-level security makes it for a tenant. */
async function planOf({ text }: Sql): Promise<string[]> {
  await app.query('BEGIN');
  await app.query(SET_TENANT_PINNED.text, [newId()]);
  await app.query(`PREPARE planned AS ${text}`);
  const counted = await app.query<{ count: number }>(
    `SELECT cardinality(parameter_types) AS count FROM pg_prepared_statements
     WHERE name = 'planned'`,
  );
  const values = Array.from({ length: counted.rows[0]?.count ?? 0 }, () => 'NULL').join();
  const { rows } = await app.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN (COSTS OFF) EXECUTE planned${values && ` (${values})`}`,
  );
  await app.query('ROLLBACK');
  await app.query('DEALLOCATE planned');
  return rows.map((row) => row['QUERY PLAN'].trim());
}

/** Scans of all rows of a workspace, which stay in the plan while the table grows. */
function scansOfWorkspaces(plan: readonly string[]): string[] {
  return plan.flatMap((line, index) => {
    const isWhole = /^Index Cond: \(workspace_id = [^()]*(?:\(InitPlan \d+\)\.col1)?\)$/.test(line);
    return isWhole ? [plan[index - 1] ?? ''] : [];
  });
}

it.each([
  ['a completion', completeRuns],
  ['a completion before a claim', completeAllRuns],
  ['a start', startRun],
  ['the holds of a claim', takeHolds],
])('%s finds rows of new tables by their keys', async (_, statement) => {
  const plan = await planOf(statement);
  expect(plan.join('\n')).toContain('Index Cond: ((workspace_id = ');
  expect(scansOfWorkspaces(plan)).toEqual([]);
});

it.each([
  ['one agent', claimOf(1, 1, false)],
  ['several agents', claimOf(2, 2, false)],
  ['many tasks', claimOf(1, 50, false)],
])('a claim of %s reads all rows of a workspace only in small tables', async (_, statements) => {
  for (const statement of statements) {
    const scans = scansOfWorkspaces(await planOf(statement));
    // A throttle adds up the runs of all agents.
    const others = scans.filter((scan) => !FEW_ROWS.test(`${scan} `));
    expect(others.filter((scan) => scan !== '->  Bitmap Index Scan on agents_pkey')).toEqual([]);
  }
});
