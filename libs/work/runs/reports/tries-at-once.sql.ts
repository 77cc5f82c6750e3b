import { query } from '#lib/database';
import { limitsOfTask } from '#lib/provider-limits';

/**
 * Finds the task of a refused run if no limit holds it because of a fallback: its next run would
 * begin at once, and meet the same refusals. Indexes: primary keys. $1 workspace, $2 run.
 */
export const triesAtOnce = query<{ id: string }>(
  'tries_at_once',
  `
SELECT t.id FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
JOIN model_routing m ON m.workspace_id = r.workspace_id AND m.fallbacks <> '[]'
WHERE r.workspace_id = $1 AND r.id = $2 AND t.agent IS NOT NULL
  AND NOT EXISTS (SELECT FROM ${limitsOfTask('t')})`,
);
