import { query } from '#lib/database';
import type { Invariant, Violation } from './invariant.js';
import { KEPT } from './kept.js';

/**
 * No run of a task started before its dependencies had completed. Edges with the policy `ignore`
 * only wait for the end, and runs from before an edge was added do not count.
 *
 * Times decide first. They are those of transactions' starts, so if they seem to overlap, the order
 * in the journal decides. Runs from before the stored journal are left out.
 *
 * Reads all edges with their runs: primary keys, task_runs_task_idx, journal_task_idx.
 */
export const dependenciesFirst: Invariant = {
  name: 'dependencies_first',
  title: 'No task ran before the tasks that it depends on had completed',
  sql: query<Violation>(
    'invariant_dependencies_first',
    `
WITH ${KEPT}
SELECT 'task ' || d.task_id AS subject,
  'run ' || r.generation || ' began before ' || d.depends_on_id || ' had completed' AS problem
FROM task_dependencies d
JOIN task_runs r ON r.workspace_id = d.workspace_id AND r.task_id = d.task_id
  AND r.assigned_at >= d.created_at
JOIN agent_tasks p ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
JOIN kept ON r.assigned_at >= kept.since
WHERE d.policy <> 'ignore'
  AND (p.completed_at IS NULL OR p.completed_at > r.assigned_at)
  AND NOT EXISTS (
    SELECT FROM journal done JOIN journal begun ON begun.workspace_id = r.workspace_id AND begun.task_id = r.task_id
      AND begun.run_id = r.id AND begun.run_version = 1
    WHERE done.workspace_id = p.workspace_id AND done.task_id = p.id AND done.new_status = 'COMPLETED'
      AND done.version IS NOT NULL AND done.id < begun.id)
ORDER BY d.task_id
LIMIT $1`,
  ),
};
