import { query } from '#lib/database';
import type { Invariant, Violation } from './invariant.js';
import { KEPT } from './kept.js';

/**
 * Since its creation or its last retry by hand, a task has failed in at most maxRetries + 1 runs. A
 * released run is no attempt, and a run that was lost while its task was paused did not count.
 * Tasks whose limit was changed are left out, because earlier runs had another limit. Runs from
 * before the stored journal do not count either, because it would have to record retries by hand.
 *
 * Reads all failed runs, and the rows of their tasks by journal_task_idx.
 */
export const boundedAttempts: Invariant = {
  name: 'bounded_attempts',
  title: 'No task was tried more often than maxRetries + 1 times, hand retries aside',
  sql: query<Violation>(
    'invariant_bounded_attempts',
    `
WITH ${KEPT},
failed AS (
  SELECT t.workspace_id, t.id, t.max_retries, count(*) AS runs
  FROM task_runs r
  JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
  CROSS JOIN LATERAL (
    SELECT max(l.created_at) FILTER (WHERE l.actor_kind IN ('user', 'api_key')
        AND l.new_status = 'PENDING' AND l.previous_status IN ('FAILED', 'ABORTED')) AS by_hand,
      count(*) FILTER (WHERE l.event = 'task.updated' AND l.details::text LIKE '%maxRetries%') AS changes
    FROM journal l
    WHERE l.workspace_id = t.workspace_id AND l.task_id = t.id AND l.version IS NOT NULL
  ) history
  CROSS JOIN kept
  WHERE r.state = 'FAILED' AND r.pause_requested_at IS NULL AND history.changes = 0
    AND r.assigned_at >= greatest(history.by_hand, kept.since)
  GROUP BY 1, 2, 3
)
SELECT 'task ' || id AS subject,
  'has failed in ' || runs || ' runs, and may be retried ' || max_retries || ' times' AS problem
FROM failed WHERE runs > max_retries + 1
ORDER BY id
LIMIT $1`,
  ),
};
