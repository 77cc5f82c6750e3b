import { query } from '#lib/database';
import { alertLevel, alertMessage, percentUsed } from '../alerts/alerts.sql.js';

/**
 * The number of the ledger behind which the reports of the last day stand; the position of the sums if there are none.
 * Index: agent_usage_logs_time_idx, one look for each workspace.
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

export interface ReportedTask {
  workspace_id: string;
  task_id: string;
}

/**
 * The tasks of the reports behind $1, up to the position of the sums, $2 reports at most; `position` is how far that
 * goes, in each row. One row without a task when there are none.
 * Index: agent_usage_logs_seq_key.
 */
export const readReportedTasks = query<
  { position: string } & (ReportedTask | { workspace_id: null; task_id: null })
>(
  'usage_read_reported_tasks',
  `
WITH report AS MATERIALIZED (
  SELECT workspace_id, task_id, seq FROM agent_usage_logs
  WHERE seq > $1 AND seq <= (SELECT position FROM usage_rollup_progress) ORDER BY seq LIMIT $2
),
bound AS (
  SELECT CASE WHEN count(*) < $2 THEN (SELECT position FROM usage_rollup_progress) ELSE max(seq) END AS position
  FROM report
)
SELECT b.position, t.workspace_id, t.task_id
FROM bound b LEFT JOIN (SELECT DISTINCT workspace_id, task_id FROM report) t ON true`,
);

export interface WorkspaceView {
  workspace_id: string;
  total_tokens: string;
  total_cost_usd: string;
  last_updated: string;
  /** The budgets of which most is used, first. */
  alerts: Record<string, unknown>[];
}

const ALERTS_SHOWN = 100;

/**
 * What is said of each of these workspaces: all that it has used, and which of its budgets have reached a step now.
 * Index: primary key of usage_rollups, with a row for each month; usage_budgets_reached_idx.
 * $1 workspaces.
 */
export const readWorkspaceViews = query<WorkspaceView>(
  'usage_read_workspace_views',
  `
SELECT w.id AS workspace_id, coalesce(u.tokens, 0)::text AS total_tokens, coalesce(u.cost, 0)::text AS total_cost_usd,
  to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS last_updated,
  coalesce(a.alerts, '[]') AS alerts
FROM unnest($1::uuid[]) AS w (id)
CROSS JOIN LATERAL (
  SELECT sum(r.input_tokens + r.output_tokens + r.cache_read_tokens + r.cache_write_tokens) AS tokens,
    trim_scale(sum(r.cost_usd)) AS cost
  FROM usage_rollups r
  WHERE r.workspace_id = w.id AND r.scope_id = w.id AND r.dimension = 'total' AND r.grain = 'month') u
CROSS JOIN LATERAL (
  SELECT jsonb_agg(jsonb_build_object('task_id', b.task_id, 'scope', b.scope, 'scope_id', b.scope_id, 'budget_id', b.id,
    'level', ${alertLevel('b.reached_percent')}, 'percent_used', b.percent,
    'message', ${alertMessage('b.reached_percent', 'b.scope')}) ORDER BY b.percent DESC, b.id) AS alerts
  FROM (
    SELECT n.*, ${percentUsed('n')} AS percent
    FROM usage_budgets n
    WHERE n.workspace_id = w.id AND n.reached_percent > 0 AND n.period_start <= now() AND now() < n.period_end
    ORDER BY percent DESC, n.id LIMIT ${ALERTS_SHOWN}) b) a`,
);

export interface TaskView {
  task_id: string;
  /** NULL: it has no budget of its own at present. */
  allocated: string | null;
  consumed: string;
  remaining: string | null;
  agents: string[];
}

/**
 * What is said of each of these tasks: its own budget, or what it has used; and the agents that have had it.
 * Indexes: usage_budgets_scope_idx, primary key of usage_rollups, task_runs_task_idx. $1 workspaces, $2 tasks.
 */
export const readTaskViews = query<TaskView>(
  'usage_read_task_views',
  `
SELECT t.id AS task_id, b.allocated::text AS allocated, coalesce(b.consumed::numeric, u.tokens, 0)::text AS consumed,
  b.remaining::text AS remaining, a.agents
FROM unnest($1::uuid[], $2::uuid[]) AS t (workspace_id, id)
LEFT JOIN LATERAL (
  SELECT n.allocated, n.consumed, n.remaining FROM usage_budgets n
  WHERE n.workspace_id = t.workspace_id AND n.scope_id = t.id AND n.period_end > now() AND n.period_start <= now()) b ON true
CROSS JOIN LATERAL (
  SELECT sum(r.input_tokens + r.output_tokens + r.cache_read_tokens + r.cache_write_tokens) AS tokens
  FROM usage_rollups r
  WHERE r.workspace_id = t.workspace_id AND r.scope_id = t.workspace_id AND r.dimension = 'task'
    AND r.key = t.id::text AND r.grain = 'day') u
CROSS JOIN LATERAL (
  SELECT ARRAY(SELECT DISTINCT n.agent_id::text FROM task_runs n
    WHERE n.workspace_id = t.workspace_id AND n.task_id = t.id ORDER BY 1) AS agents) a`,
);
