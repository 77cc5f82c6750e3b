import { command, lastDrawn, query } from '#lib/database';
import { dailySums, monthlySums, ROLLUP_COLUMNS, SUMS } from '../store/counted.sql.js';

export interface Progress {
  /** The last number of the ledger that was drawn. */
  last: string;
  /** The sums have all reports up to this number. */
  position: string;
}

/**
 * Reads the positions of ledger and sums. It does not write, so an idle installation writes
 * nothing. It reads the sequence and one row.
 */
export const readRollupProgress = query<Progress>(
  'usage_read_rollup_progress',
  `
SELECT ${lastDrawn('agent_usage_logs_seq')} AS last, p.position FROM usage_rollup_progress p`,
);

/**
 * Draws a transaction id. Numbers that were read before belong to transactions with a smaller id,
 * because the ledger draws the id before the number.
 */
export const drawHorizon = command<{ xid: string }>(
  'usage_draw_horizon',
  `SELECT pg_current_xact_id()::text AS xid`,
);

/**
 * Adds at most $3 reports up to the number $1 to the sums, and moves the position. It is one
 * statement, so each report is added once. It returns no row while a transaction below $2 is open,
 * because its reports can still become visible, and while another server adds reports.
 *
 * The snapshot can be older than the position that is locked. That is harmless: each snapshot that
 * passes the check has all reports up to $1, and the update adds to the present sums.
 *
 * Index: agent_usage_logs_seq_key, primary key of usage_rollups.
 * $1 number, $2 transaction id, $3 maximum number of reports.
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
    SELECT n.* FROM agent_usage_logs n WHERE n.seq > f.position AND n.seq <= $1
    ORDER BY n.seq LIMIT $3) l
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
    ${SUMS.map((column) => `${column} = r.${column} + excluded.${column}`).join(',\n    ')}
),
counted AS (
  SELECT count(*)::int AS reports, max(seq) AS last FROM report
)
UPDATE usage_rollup_progress p SET position = CASE WHEN c.reports < $3 THEN $1 ELSE c.last END
FROM follower f, counted c
WHERE p.id = f.id
RETURNING p.position, c.reports AS added`,
);
