import { command, query } from '#lib/database';
import { dailySums, monthlySums, ROLLUP_COLUMNS } from '../store/counted.sql.js';

export interface RollupMonth {
  workspace_id: string;
  /** The first day of the month. */
  month: string;
}

/**
 * Reads the months of each workspace that have reports, or sums that reports could prove.
 * Index: agent_usage_logs_time_idx; primary keys.
 */
export const readRollupMonths = query<RollupMonth>(
  'usage_read_rollup_months',
  `
SELECT w.id AS workspace_id, m::date::text AS month
FROM workspaces w
LEFT JOIN usage_logs_kept k ON k.workspace_id = w.id
CROSS JOIN LATERAL (
  SELECT greatest(k.since, least(
    (SELECT min(l.logged_at AT TIME ZONE 'UTC')::date FROM agent_usage_logs l
      WHERE l.workspace_id = w.id),
    (SELECT min(r.day) FROM usage_rollups r
      WHERE r.workspace_id = w.id AND r.scope_id = w.id))) AS day) f
CROSS JOIN LATERAL generate_series(
  date_trunc('month', f.day::timestamp), now() AT TIME ZONE 'UTC', '1 month') m
WHERE f.day IS NOT NULL
ORDER BY 1, 2`,
);

/** Waits for a running follower, and keeps followers out until the transaction ends. */
export const lockRollups = command<{ position: string }>(
  'usage_lock_rollups',
  `SELECT position FROM usage_rollup_progress FOR NO KEY UPDATE`,
);

const DAYS = `day >= $2::date AND day < $2::date + interval '1 month'`;
const KEPT = `day >= coalesce(
    (SELECT since FROM usage_logs_kept WHERE workspace_id = $1), '-infinity')`;

/**
 * Removes the sums of the month, and of its days whose reports are all kept.
 * $1 workspace, $2 month.
 */
export const forgetRollups = command<unknown>(
  'usage_forget_rollups',
  `
DELETE FROM usage_rollups
WHERE workspace_id = $1
  AND (grain = 'month' AND day = $2::date OR grain = 'day' AND ${DAYS} AND ${KEPT})`,
);

/**
 * Computes the sums of these days again, from the reports up to $3.
 * Index: agent_usage_logs_time_idx.
 */
export const rebuildDays = command<unknown>(
  'usage_rebuild_days',
  `
INSERT INTO usage_rollups (${ROLLUP_COLUMNS})
SELECT ${ROLLUP_COLUMNS} FROM (${dailySums(
    'agent_usage_logs',
    `l.workspace_id = $1 AND l.seq <= $3
      AND l.logged_at >= $2::timestamp AT TIME ZONE 'UTC'
      AND l.logged_at < ($2::timestamp + interval '1 month') AT TIME ZONE 'UTC'`,
  )}) d
WHERE ${KEPT}`,
);

/** Computes the sums of the month from the sums of its days. $1 workspace, $2 month. */
export const rebuildMonth = command<unknown>(
  'usage_rebuild_month',
  `
INSERT INTO usage_rollups (${ROLLUP_COLUMNS})
${monthlySums(
  'usage_rollups',
  `m.workspace_id = $1 AND m.grain = 'day'
    AND m.day >= $2::date AND m.day < $2::date + interval '1 month'`,
)}`,
);
