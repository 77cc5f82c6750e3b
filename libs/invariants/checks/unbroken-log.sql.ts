import { query } from '#lib/database';
import { TASK_EDGES, TASK_STATUSES } from '#lib/transitions';
import type { Invariant, Violation } from '../invariant.js';

const EDGES = TASK_STATUSES.flatMap((from) =>
  TASK_EDGES[from].map((to: string) => `('${from}', '${to}')`),
).join(', ');

/**
 * The versions 1 to n of a task have one log entry each; the first makes it PENDING, each goes on from
 * where the one before ended, along a legal edge, and the last one ends where the task is. An entry
 * whose event is not `state_transition` records a change of fields, which keeps the status.
 *
 * Reads all versioned log entries in the order of agent_task_logs_version_key.
 */
export const unbrokenLog: Invariant = {
  name: 'unbroken_log',
  title: "Each task's log is an unbroken chain of legal edges, one entry for each version",
  sql: query<Violation>(
    'invariant_unbroken_log',
    `
WITH entry AS (
  SELECT l.workspace_id, l.task_id, l.task_version, l.event, l.previous_status, l.new_status,
    lag(l.task_version) OVER w AS version_before, lag(l.new_status) OVER w AS status_before
  FROM agent_task_logs l
  WHERE l.task_version IS NOT NULL
  WINDOW w AS (PARTITION BY l.workspace_id, l.task_id ORDER BY l.task_version)
),
broken AS (
  SELECT e.task_id, CASE
    WHEN e.task_version <> coalesce(e.version_before, 0) + 1
      THEN 'version ' || e.task_version || ' follows ' || coalesce(e.version_before, 0)
    WHEN e.version_before IS NULL AND (e.previous_status IS NOT NULL OR e.new_status <> 'PENDING')
      THEN 'it begins as ' || e.new_status
    WHEN e.version_before IS NOT NULL AND e.previous_status IS DISTINCT FROM e.status_before
      THEN 'version ' || e.task_version || ' starts from ' || coalesce(e.previous_status, 'nothing')
        || ', where the one before ended in ' || e.status_before
    WHEN e.version_before IS NOT NULL AND e.event = 'state_transition'
      AND (e.previous_status, e.new_status) NOT IN (${EDGES})
      THEN 'version ' || e.task_version || ' goes from ' || e.previous_status || ' to ' || e.new_status
    WHEN e.version_before IS NOT NULL AND e.event <> 'state_transition'
      AND e.previous_status <> e.new_status
      THEN 'version ' || e.task_version || ' changes the status as ' || e.event
    END AS problem
  FROM entry e
),
last AS (
  SELECT DISTINCT ON (e.workspace_id, e.task_id) e.workspace_id, e.task_id, e.task_version, e.new_status
  FROM entry e ORDER BY e.workspace_id, e.task_id, e.task_version DESC
)
SELECT 'task ' || b.task_id AS subject, b.problem FROM broken b WHERE b.problem IS NOT NULL
UNION ALL
SELECT 'task ' || t.id, 'is ' || t.status || ' in version ' || t.version || ', but its log ends with '
  || coalesce(l.new_status || ' in version ' || l.task_version, 'nothing')
FROM agent_tasks t LEFT JOIN last l ON l.workspace_id = t.workspace_id AND l.task_id = t.id
WHERE (l.task_version, l.new_status) IS DISTINCT FROM (t.version, t.status)
ORDER BY 1
LIMIT $1`,
  ),
};
