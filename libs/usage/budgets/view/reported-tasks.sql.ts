import { query } from '#lib/database';

/**
 * Reads the number of the ledger after which the reports of the last day stand, or the position of
 * the sums if there are none. Index: agent_usage_logs_time_idx, one look for each workspace.
 */
export const readViewBegin = query<{ position: string }>(
  'usage_read_view_begin',
  `
SELECT coalesce(min(l.seq) - 1, (SELECT position FROM usage_rollup_progress)) AS position
FROM workspaces w CROSS JOIN LATERAL (
  SELECT n.seq FROM agent_usage_logs n
  WHERE n.workspace_id = w.id AND n.logged_at >= now() - interval '1 day'
  ORDER BY n.logged_at LIMIT 1) l`,
);

/** The seconds for which the key of a task lives after its last usage. */
export const TASK_SECONDS = 3_600;

export interface ReportedTask {
  workspace_id: string;
  task_id: string;
  /** The seconds that its key still lives. It is 0 or less if the key has expired. */
  seconds: number;
}

/**
 * Reads the tasks of the reports after $1, up to the position of the sums and at most $2 reports.
 * Each row has the position that was reached. Without reports it is one row without a task.
 * Index: agent_usage_logs_seq_key.
 */
export const readReportedTasks = query<
  { position: string } & (ReportedTask | { workspace_id: null; task_id: null; seconds: null })
>(
  'usage_read_reported_tasks',
  `
WITH report AS MATERIALIZED (
  SELECT workspace_id, task_id, seq, logged_at FROM agent_usage_logs
  WHERE seq > $1 AND seq <= (SELECT position FROM usage_rollup_progress) ORDER BY seq LIMIT $2
),
bound AS (
  SELECT CASE WHEN count(*) < $2 THEN (SELECT position FROM usage_rollup_progress)
    ELSE max(seq) END AS position
  FROM report
)
SELECT b.position, t.workspace_id, t.task_id, t.seconds
FROM bound b LEFT JOIN (
  SELECT workspace_id, task_id,
    ceil(${TASK_SECONDS} - extract(epoch FROM now() - max(logged_at)))::int AS seconds
  FROM report GROUP BY 1, 2) t ON true`,
);
