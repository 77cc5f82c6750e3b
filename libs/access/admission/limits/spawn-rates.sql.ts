import { command } from '#lib/database';
import { refilled } from './spawn-wait.sql.js';

export interface AllowanceRow {
  /** NULL means the installation. */
  workspace_id: string | null;
  /** Sessions that can be spawned now. */
  tokens: number;
}

/**
 * Fills the buckets up to now and locks them. A bucket holds the allowance of a minute and fills at
 * the rate. Workspaces without a rate of their own have no bucket, and no row here.
 *
 * As the service role, in the transaction that assigns. Index: primary keys. $1 workspaces, $2 the
 * installation's rate a minute.
 */
export const fillAllowances = command<AllowanceRow>(
  'fill_allowances',
  `
WITH own AS (
  INSERT INTO spawn_allowances AS s (workspace_id, tokens)
  SELECT l.workspace_id, l.spawns_per_minute FROM workspace_limits l
  WHERE l.workspace_id = ANY($1::uuid[]) AND l.spawns_per_minute IS NOT NULL
  ORDER BY l.workspace_id
  ON CONFLICT (workspace_id) DO UPDATE SET tokens = ${refilled('excluded.tokens')}, filled_at = now()
  RETURNING workspace_id, tokens),
installation AS (
  INSERT INTO installation_spawn_allowance AS s (id, tokens) SELECT 1, $2::float8 WHERE $2::float8 > 0
  ON CONFLICT (id) DO UPDATE SET tokens = ${refilled('excluded.tokens')}, filled_at = now()
  RETURNING tokens)
SELECT workspace_id, tokens FROM own UNION ALL SELECT NULL, tokens FROM installation`,
);

/**
 * In the transaction of fillAllowances. Index: primary keys. $1 workspaces, $2 spawned sessions of
 * each, $3 spawned sessions of all.
 */
export const spendAllowances = command<{ workspace_id: string }>(
  'spend_allowances',
  `
WITH installation AS (
  UPDATE installation_spawn_allowance SET tokens = greatest(0, tokens - $3::float8))
UPDATE spawn_allowances s SET tokens = greatest(0, s.tokens - n.spent)
FROM unnest($1::uuid[], $2::int[]) AS n (workspace_id, spent)
WHERE s.workspace_id = n.workspace_id
RETURNING s.workspace_id`,
);
