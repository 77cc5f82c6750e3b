import { query } from '#lib/database';
import { TASK_EDGES, TASK_STATUSES } from '#lib/transitions';
import type { Invariant, Violation } from './invariant.js';
import { KEPT } from './kept.js';

const EDGES = TASK_STATUSES.flatMap((from) =>
  TASK_EDGES[from].map((to: string) => `('${from}', '${to}')`),
).join(', ');

/**
 * The versions 1 to n of a task are in the journal in order. The first makes it PENDING, each
 * continues from the previous one along a legal edge, and the last leads to the task's status. A
 * row that is no `task.status_changed` records a change of fields and keeps the status. The chain
 * of a task that is older than the retention starts with its oldest row.
 *
 * Reads all versioned rows of the journal, sorted once.
 */
export const unbrokenLog: Invariant = {
  name: 'unbroken_log',
  title: "Each task's log is an unbroken chain of legal edges, one entry for each version",
  sql: query<Violation>(
    'invariant_unbroken_log',
    `
WITH ${KEPT},
entry AS (
  SELECT j.workspace_id, j.task_id, j.id, j.version, j.event, j.previous_status, j.new_status,
    lag(j.id) OVER w AS id_before, lag(j.version) OVER w AS version_before, lag(j.new_status) OVER w AS status_before
  FROM journal j
  WHERE j.task_id IS NOT NULL AND j.version IS NOT NULL
  WINDOW w AS (PARTITION BY j.workspace_id, j.task_id ORDER BY j.version, j.id)
),
broken AS (
  SELECT e.task_id, CASE
    WHEN e.version_before IS NOT NULL AND e.version <> e.version_before + 1
      THEN 'version ' || e.version || ' follows ' || e.version_before
    WHEN e.version_before IS NULL AND e.version <> 1 AND t.created_at >= kept.since
      THEN 'version ' || e.version || ' follows 0'
    WHEN e.version = 1 AND (e.previous_status IS NOT NULL OR e.new_status <> 'PENDING')
      THEN 'it begins as ' || e.new_status
    WHEN e.id < e.id_before
      THEN 'version ' || e.version || ' stands before the one that it follows'
    WHEN e.version_before IS NOT NULL AND e.previous_status IS DISTINCT FROM e.status_before
      THEN 'version ' || e.version || ' starts from ' || coalesce(e.previous_status, 'nothing')
        || ', where the one before ended in ' || e.status_before
    WHEN e.version > 1 AND e.event = 'task.status_changed' AND (e.previous_status, e.new_status) NOT IN (${EDGES})
      THEN 'version ' || e.version || ' goes from ' || e.previous_status || ' to ' || e.new_status
    WHEN e.version > 1 AND e.event <> 'task.status_changed' AND e.previous_status IS DISTINCT FROM e.new_status
      THEN 'version ' || e.version || ' changes the status as ' || e.event
    END AS problem
  FROM entry e CROSS JOIN kept JOIN agent_tasks t ON t.workspace_id = e.workspace_id AND t.id = e.task_id
),
last AS (
  SELECT DISTINCT ON (e.workspace_id, e.task_id) e.workspace_id, e.task_id, e.version, e.new_status
  FROM entry e ORDER BY e.workspace_id, e.task_id, e.version DESC
)
SELECT 'task ' || b.task_id AS subject, b.problem FROM broken b WHERE b.problem IS NOT NULL
UNION ALL
SELECT 'task ' || t.id, 'is ' || t.status || ' in version ' || t.version || ', but its log ends with '
  || coalesce(l.new_status || ' in version ' || l.version, 'nothing')
FROM agent_tasks t CROSS JOIN kept LEFT JOIN last l ON l.workspace_id = t.workspace_id AND l.task_id = t.id
WHERE (l.version, l.new_status) IS DISTINCT FROM (t.version, t.status)
  AND (l.version IS NOT NULL OR t.created_at >= kept.since)
ORDER BY 1
LIMIT $1`,
  ),
};
