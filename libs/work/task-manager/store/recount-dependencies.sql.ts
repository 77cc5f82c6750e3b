import { command } from '#lib/database';
import { recordOfChange, unmetWith } from '#lib/transitions';

/**
 * Recounts the unmet prerequisites of a locked task after its edges have changed, with the journal
 * row of the change. A task without unmet prerequisites is ready from now on. One that stays ready
 * keeps its position in the queue.
 *
 * A separate statement, because one that also changed the edges would count the old ones.
 *
 * Index: primary keys. $1 workspace, $2 task, $3 to $6 see recordOfChange.
 */
export const recountDependencies = command<{ version: number; became_ready: boolean }>(
  'recount_dependencies',
  `
WITH counted AS MATERIALIZED (
  SELECT count(*)::int AS edges FROM task_dependencies
  WHERE workspace_id = $1 AND task_id = $2 AND settled_at IS NULL
),
changed AS (
  UPDATE agent_tasks t SET
    version = t.version + 1,
    updated_at = now(),
    unmet_dependencies = ${unmetWith('t', 'c.edges')},
    ready_at = CASE WHEN ${unmetWith('t', 'c.edges')} = 0 THEN coalesce(t.ready_at, now()) END
  FROM counted c
  WHERE t.workspace_id = $1 AND t.id = $2
  RETURNING t.id, t.version, t.status, t.unmet_dependencies = 0
    AND old.unmet_dependencies > 0 AS became_ready
),
${recordOfChange('dependencies_changed')}
SELECT version, became_ready FROM changed`,
);
