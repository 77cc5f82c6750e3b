import { query } from '#lib/database';
import { LIVE_RUN_STATES } from '#lib/transitions';
import type { Invariant, Violation } from './invariant.js';

/** Sweeps come within seconds. Nobody will come for work that is overdue by more. */
const GRACE = `interval '60 seconds'`;
const LIVE = LIVE_RUN_STATES.map((state) => `'${state}'`).join(', ');

/**
 * Every task is finished, or waits with a reason and a time, or is under a live lease.
 *
 * Reads all unfinished tasks with their runs and edges: agent_tasks_status_idx, primary keys. A
 * lease that heartbeats renew is written only when it would expire, so it is alive while the agent
 * is.
 */
export const accountedFor: Invariant = {
  name: 'accounted_for',
  title: 'Every task is over, or waits with a reason and a time, or is under a live lease',
  sql: query<Violation>(
    'invariant_accounted_for',
    `
WITH open AS MATERIALIZED (
  SELECT t.* FROM agent_tasks t
  WHERE t.status IN ('PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED')
    OR (t.status = 'ABORTED' AND t.retry_at IS NOT NULL)
),
edge AS MATERIALIZED (
  SELECT t.workspace_id, t.id, count(*)::int AS unsettled,
    bool_or(NOT p.dependents_unsettled AND (
      (p.completed_at IS NOT NULL AND p.status IN ('COMPLETED', 'ARCHIVED'))
      OR (d.policy <> 'block' AND p.completed_at IS NULL AND (p.status IN ('FAILED', 'ARCHIVED')
        OR (p.status = 'ABORTED' AND p.retry_at IS NULL))))) AS forgotten
  FROM open t
  JOIN task_dependencies d ON d.workspace_id = t.workspace_id AND d.task_id = t.id
  JOIN agent_tasks p ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
  WHERE d.settled_at IS NULL
  GROUP BY 1, 2
)
SELECT 'task ' || t.id AS subject, problem
FROM open t
LEFT JOIN edge e ON e.workspace_id = t.workspace_id AND e.id = t.id
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id AND r.task_id = t.id
  AND r.state IN (${LIVE})
LEFT JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
LEFT JOIN agent_heartbeats h ON h.workspace_id = r.workspace_id AND h.agent_id = r.agent_id
CROSS JOIN LATERAL (SELECT make_interval(secs => 2 * r.lease_seconds) AS twice) lease
CROSS JOIN LATERAL (VALUES
  (t.status = 'PENDING' AND t.unmet_dependencies <> coalesce(e.unsettled, 0) + t.waits_for_start::int + t.waits_for_slot::int,
    'counts ' || t.unmet_dependencies || ' unmet dependencies, but has ' || coalesce(e.unsettled, 0)),
  (t.status = 'PENDING' AND e.forgotten,
    'waits for a task that has ended, and nobody will tell it'),
  (t.status = 'PENDING' AND t.unmet_dependencies = 0 AND t.ready_at IS NULL,
    'waits in the queue, but not since any time'),
  (t.status = 'PENDING' AND t.waits_for_start AND t.start_at < now() - ${GRACE},
    'waits for a start that has passed'),
  (t.status = 'PENDING' AND t.queue_expires_at < now() - ${GRACE},
    'waits in the queue for longer than it may'),
  (t.status = 'PAUSED' AND num_nulls(t.paused_at, t.paused_by, t.paused_for) > 0,
    'is paused, but nobody knows by whom, what for and since when'),
  (t.status = 'ABORTED' AND t.abort_reason IS NULL, 'waits for its retry without a reason'),
  (t.status = 'ABORTED' AND t.retry_at < now() - ${GRACE}, 'is overdue for its retry'),
  (t.status IN ('ASSIGNED', 'RUNNING') AND r.id IS NULL, 'is ' || t.status || ' without a live run'),
  (NOT r.lease_by_heartbeat AND r.lease_expires_at < now() - ${GRACE},
    'is under a lease that has passed'),
  (r.lease_by_heartbeat AND a.lifecycle IN ('ERROR', 'TERMINATED')
      AND greatest(a.error_at, a.terminated_at) < now() - ${GRACE},
    'is held by an agent that is gone'),
  (r.lease_by_heartbeat AND now() - ${GRACE} > greatest(r.lease_expires_at, h.last_seen_at + lease.twice),
    'is held by an agent that sends no more heartbeats')
) AS found (wrong, problem)
WHERE found.wrong
ORDER BY t.id
LIMIT $1`,
  ),
};
