import { command, query } from '#lib/database';
import { dailySums, monthlySums, ROLLUP_COLUMNS, SUMS } from '../store/counted.js';

export interface Progress {
  /** The last number of the ledger that anybody has drawn. */
  last: string;
  /** All reports up to it are in the sums. */
  position: string;
}

/**
 * How far the ledger goes, and how far the sums. A read and no more: an idle installation writes nothing.
 * Index: one row; the sequence is another.
 */
export const readRollupProgress = query<Progress>(
  'usage_read_rollup_progress',
  `
SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END AS last, p.position
FROM usage_rollup_progress p, agent_usage_logs_seq s`,
);

/**
 * Draws a transaction id. Numbers that were read before belong to transactions with a smaller one, because the ledger
 * draws the transaction id before the number.
 */
export const drawHorizon = command<{ xid: string }>(
  'usage_draw_horizon',
  `SELECT pg_current_xact_id()::text AS xid`,
);

/**
 * Adds the next reports up to the number $1 to the sums, at most $3, and moves the position: one statement, so each
 * report is added once. None before all transactions below $2 have ended, since a report of theirs may still become
 * visible among them; and none while another server is at it. No row in either case.
 *
 * A server that waited for nothing may have an older snapshot than the position that it locks. That is no harm: all
 * reports up to $1 are in any snapshot that passes the check, and sums are added to as they are now.
 *
 * Index: agent_usage_logs_seq_key, primary key of usage_rollups.
 * $1 number, $2 transaction id, $3 reports at most.
 */
export const rollUpReports = command<{ position: string; added: number }>(
  'usage_roll_up_reports',
  `
WITH follower AS MATERIALIZED (
  SELECT p.id, p.position FROM usage_rollup_progress p
  WHERE pg_snapshot_xmin(pg_current_snapshot()) >= $2::xid8 AND p.position < $1
  FOR NO KEY UPDATE SKIP LOCKED
),
report AS MATERIALIZED (
  SELECT l.* FROM follower f CROSS JOIN LATERAL (
    SELECT n.* FROM agent_usage_logs n WHERE n.seq > f.position AND n.seq <= $1 ORDER BY n.seq LIMIT $3) l
),
daily AS MATERIALIZED (
  ${dailySums('report')}
),
added AS (
  INSERT INTO usage_rollups AS r (${ROLLUP_COLUMNS})
  SELECT ${ROLLUP_COLUMNS} FROM daily
  UNION ALL
  ${monthlySums('daily')}
  ON CONFLICT (workspace_id, scope_id, dimension, key, grain, day) DO UPDATE SET
    ${SUMS.map((column) => `${column} = r.${column} + excluded.${column}`).join(', ')}
),
counted AS (
  SELECT count(*)::int AS reports, max(seq) AS last FROM report
)
UPDATE usage_rollup_progress p SET position = CASE WHEN c.reports < $3 THEN $1 ELSE c.last END
FROM follower f, counted c
WHERE p.id = f.id
RETURNING p.position, c.reports AS added`,
);
