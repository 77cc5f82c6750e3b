import { query } from '#lib/database';
import { isLiveRun } from '#lib/transitions';
import type { Invariant, Violation } from './invariant.js';

/**
 * For each budget, the reserved tokens are those that live runs hold, and the consumed ones were
 * used in its scope and period, as far as reports are stored. A recurring budget keeps its period
 * until the coordinator renews it, and counts all usage since its begin.
 *
 * Reads all budgets, live runs with a hold, and the usage of the periods: task_runs_live_agent_idx,
 * agent_usage_logs_time_idx.
 */
export const budgetsAddUp: Invariant = {
  name: 'budgets_add_up',
  title: 'What budgets have reserved and consumed is what live runs hold, and what was used',
  sql: query<Violation>(
    'invariant_budgets_add_up',
    `
WITH held AS MATERIALIZED (
  SELECT r.workspace_id, i.budget_id, sum(r.held_tokens) AS tokens
  FROM task_runs r CROSS JOIN LATERAL unnest(r.budget_ids) AS i (budget_id)
  WHERE ${isLiveRun('r')} AND r.held_tokens > 0
  GROUP BY 1, 2
)
SELECT 'budget ' || b.id AS subject, problem
FROM usage_budgets b
LEFT JOIN held h ON h.workspace_id = b.workspace_id AND h.budget_id = b.id
CROSS JOIN LATERAL (
  SELECT coalesce(sum(l.total_tokens), 0) AS tokens FROM agent_usage_logs l
  WHERE l.workspace_id = b.workspace_id AND l.logged_at >= b.period_start AND l.logged_at < b.covers_until
    AND b.scope_id IN (l.workspace_id, l.project_id, l.milestone_id, l.task_id)) used
CROSS JOIN LATERAL (VALUES
  (b.reserved <> coalesce(h.tokens, 0), 'has ' || b.reserved || ' reserved, where live runs hold ' || coalesce(h.tokens, 0)),
  (b.consumed <> used.tokens AND NOT EXISTS (SELECT FROM usage_logs_kept k
      WHERE k.workspace_id = b.workspace_id AND k.since > b.period_start), 'has ' || b.consumed || ' consumed, where ' || used.tokens || ' were used')
) AS found (wrong, problem)
WHERE found.wrong
UNION ALL
SELECT 'run ' || r.id, 'has ended, and holds ' || r.held_tokens || ' tokens' FROM task_runs r
WHERE r.held_tokens > 0 AND NOT ${isLiveRun('r')}
LIMIT $1`,
  ),
};
