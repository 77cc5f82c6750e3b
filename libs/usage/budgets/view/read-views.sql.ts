import { query } from '#lib/database';
import { isActiveBudget } from '#lib/transitions';
import { alertLevel, alertMessage, percentUsed } from '../store/alert-text.sql.js';

/** The values of the keys of a workspace. */
export interface WorkspaceView {
  workspace_id: string;
  total_tokens: string;
  total_cost_usd: string;
  last_updated: string;
  /** The fullest budget comes first. */
  alerts: Record<string, unknown>[];
}

const MAX_ALERTS = 100;

/** SQL: all tokens of a row `r` of usage_rollups. */
const TOKENS = 'r.input_tokens + r.output_tokens + r.cache_read_tokens + r.cache_write_tokens';

/**
 * Reads all usage of these workspaces, and the budgets that have reached a threshold.
 * Index: primary key of usage_rollups, a row for each month; usage_budgets_reached_idx.
 * $1 workspaces.
 */
export const readWorkspaceViews = query<WorkspaceView>(
  'usage_read_workspace_views',
  `
SELECT w.id AS workspace_id, coalesce(u.tokens, 0)::text AS total_tokens,
  coalesce(u.cost, 0)::text AS total_cost_usd,
  to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS last_updated,
  coalesce(a.alerts, '[]') AS alerts
FROM unnest($1::uuid[]) AS w (id)
CROSS JOIN LATERAL (
  SELECT sum(${TOKENS}) AS tokens, trim_scale(sum(r.cost_usd)) AS cost
  FROM usage_rollups r
  WHERE r.workspace_id = w.id AND r.scope_id = w.id AND r.dimension = 'total'
    AND r.grain = 'month') u
CROSS JOIN LATERAL (
  SELECT jsonb_agg(jsonb_build_object('task_id', b.task_id, 'scope', b.scope,
    'scope_id', b.scope_id, 'budget_id', b.id, 'level', ${alertLevel('b.reached_percent')},
    'percent_used', b.percent, 'message', ${alertMessage('b.reached_percent', 'b.scope')})
    ORDER BY b.percent DESC, b.id) AS alerts
  FROM (
    SELECT n.*, ${percentUsed('n')} AS percent
    FROM usage_budgets n
    WHERE n.workspace_id = w.id AND n.reached_percent > 0 AND ${isActiveBudget('n')}
    ORDER BY percent DESC, n.id LIMIT ${MAX_ALERTS}) b) a`,
);

/** The values of the key of a task. */
export interface TaskView {
  task_id: string;
  /** NULL means that the task has no budget of its own at present. */
  allocated: string | null;
  consumed: string;
  remaining: string | null;
  agents: string[];
}

/**
 * Reads the own budget of each of these tasks, or the tokens that it has used, and the agents that
 * had a run of it. Indexes: usage_budgets_scope_idx, primary key of usage_rollups,
 * task_runs_task_idx. $1 workspaces, $2 tasks.
 */
export const readTaskViews = query<TaskView>(
  'usage_read_task_views',
  `
SELECT t.id AS task_id, b.allocated::text AS allocated,
  coalesce(b.consumed::numeric, u.tokens, 0)::text AS consumed,
  b.remaining::text AS remaining, a.agents
FROM unnest($1::uuid[], $2::uuid[]) AS t (workspace_id, id)
LEFT JOIN LATERAL (
  SELECT n.allocated, n.consumed, n.remaining FROM usage_budgets n
  WHERE n.workspace_id = t.workspace_id AND n.scope_id = t.id
    AND ${isActiveBudget('n')}) b ON true
CROSS JOIN LATERAL (
  SELECT sum(${TOKENS}) AS tokens FROM usage_rollups r
  WHERE r.workspace_id = t.workspace_id AND r.scope_id = t.workspace_id AND r.dimension = 'task'
    AND r.key = t.id::text AND r.grain = 'day') u
CROSS JOIN LATERAL (
  SELECT ARRAY(SELECT DISTINCT n.agent_id::text FROM task_runs n
    WHERE n.workspace_id = t.workspace_id AND n.task_id = t.id ORDER BY 1) AS agents) a`,
);
