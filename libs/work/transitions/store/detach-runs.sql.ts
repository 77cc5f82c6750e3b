import { command } from '#lib/database';
import { journaled } from './journal.sql.js';
import { anyRunTransition } from './run-transition.sql.js';

/** CTE: PAUSED tasks lose the runs of `run_moved`, rows `r`, for which the condition holds. */
export function detached(condition: string): string {
  return `detached AS (
  UPDATE agent_tasks t SET run_id = NULL, updated_at = now() FROM run_moved r
  WHERE t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
    AND t.status = 'PAUSED' AND ${condition}
)`;
}

/**
 * Ends the runs of tasks that stay PAUSED. The task keeps its status and its checkpoint and loses
 * only its run.
 *
 * Under the task's lock. Index: primary keys. $1 JSON array of run transitions.
 */
export const detachRuns = command<{ task_id: string; agent_id: string }>(
  'detach_runs',
  `
WITH ${anyRunTransition('$1::jsonb')},
${detached('true')},
${journaled('runs')}
SELECT task_id, agent_id FROM run_moved`,
);
