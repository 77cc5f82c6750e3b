import { command } from '#lib/database';
import { isOver } from '#lib/transitions';

/**
 * Puts unsuccessful prerequisites before the coordinator again, because a dependent is back in the
 * queue and their edges' policies apply to it again. That includes one that seems to be there
 * already, because the coordinator may just be done with it.
 *
 * In the transaction that holds the retried tasks. Index: primary keys. $1 workspace, $2 the
 * retried tasks.
 */
export const reconsiderPrerequisites = command<{ id: string }>(
  'reconsider_prerequisites',
  `
UPDATE agent_tasks p SET dependents_unsettled = true
FROM task_dependencies d
WHERE d.workspace_id = $1 AND d.task_id = ANY($2::uuid[]) AND d.settled_at IS NULL
  AND p.workspace_id = $1 AND p.id = d.depends_on_id
  AND ${isOver('p')}
RETURNING p.id`,
);
