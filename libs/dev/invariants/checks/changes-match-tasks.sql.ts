import { query } from '#lib/database';
import { waitsForReview } from '#lib/transitions';
import type { Invariant, Violation } from './invariant.js';

/**
 * A task waits for a review exactly while its change is proven, reviewed or merged, and has no run
 * meanwhile. A change has ended if its task has.
 *
 * Reads all PAUSED tasks and all changes that have not ended: agent_tasks_status_idx,
 * changes_state_idx.
 */
export const changesMatchTasks: Invariant = {
  name: 'changes_match_tasks',
  title: 'A task waits for a review while its change is proven, reviewed or merged, and only then',
  sql: query<Violation>(
    'invariant_changes_match_tasks',
    `
SELECT 'task ' || coalesce(t.id, c.task_id) AS subject, problem
FROM (SELECT * FROM agent_tasks t WHERE ${waitsForReview('t')}) t
FULL JOIN (SELECT *, state IN ('PROVING', 'IN_REVIEW', 'APPROVED') AS in_review FROM changes
  WHERE state IN ('WORKING', 'PROVING', 'IN_REVIEW', 'APPROVED')) c
  ON c.workspace_id = t.workspace_id AND c.task_id = t.id
CROSS JOIN LATERAL (VALUES
  (t.id IS NOT NULL AND c.in_review IS NOT TRUE, 'waits for a review, and has no change in review'),
  (c.in_review AND t.id IS NULL, 'has a change in review, and does not wait for it'),
  (t.run_id IS NOT NULL, 'waits for a review, and has a run'),
  (c.state = 'WORKING' AND EXISTS (SELECT FROM agent_tasks e
    WHERE e.workspace_id = c.workspace_id AND e.id = c.task_id
      AND (e.status IN ('COMPLETED', 'FAILED', 'ARCHIVED')
        OR e.status = 'ABORTED' AND e.retry_at IS NULL)), 'has ended, and its change has not')
) AS found (wrong, problem)
WHERE found.wrong
ORDER BY 1
LIMIT $1`,
  ),
};
