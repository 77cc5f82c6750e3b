import { command } from '#lib/database';

/**
 * Removes the reports of whole days that are more than $1 days past, the oldest first, at most $2
 * in each workspace, and notes the day from which all reports are kept. A report that is not in the
 * sums stays. So do all reports since the begin of the oldest budget whose period has not ended,
 * because they are what it has consumed.
 *
 * Index: agent_usage_logs_time_idx, once for each workspace.
 */
export const pruneReports = command<{ removed: number; most: number }>(
  'usage_prune_reports',
  `
WITH bound AS MATERIALIZED (
  SELECT w.id AS workspace_id, (date_trunc('day', least(now() - make_interval(days => $1),
    (SELECT min(b.period_start) FROM usage_budgets b
      WHERE b.workspace_id = w.id AND b.covers_until > now())) AT TIME ZONE 'UTC'))::date AS since
  FROM workspaces w
),
doomed AS MATERIALIZED (
  SELECT l.* FROM bound b CROSS JOIN LATERAL (
    SELECT n.workspace_id, n.run_id, n.id, b.since FROM agent_usage_logs n
    WHERE n.workspace_id = b.workspace_id AND n.logged_at < b.since::timestamp AT TIME ZONE 'UTC'
      AND n.seq <= (SELECT position FROM usage_rollup_progress)
    ORDER BY n.logged_at LIMIT $2) l
),
noted AS (
  INSERT INTO usage_logs_kept AS k (workspace_id, since)
  SELECT DISTINCT workspace_id, since FROM doomed
  ON CONFLICT (workspace_id) DO UPDATE SET since = greatest(k.since, excluded.since)
),
removed AS (
  DELETE FROM agent_usage_logs l USING doomed d
  WHERE l.workspace_id = d.workspace_id AND l.run_id = d.run_id AND l.id = d.id
  RETURNING l.workspace_id
),
counted AS (
  SELECT count(*)::int AS removed FROM removed GROUP BY workspace_id
)
SELECT coalesce(sum(removed), 0)::int AS removed, coalesce(max(removed), 0) AS most FROM counted`,
);
