import { query } from '#lib/database';
import type { Invariant, Violation } from '../invariant.js';

/**
 * No run of a task began before what the task depends on had completed; edges with the policy `ignore`
 * wait only for the end, and runs from before an edge was added don't count.
 *
 * Times decide first. They are those of transactions' beginnings, so where they seem to overlap, the
 * order of the two events does.
 *
 * Reads all edges with their runs: primary keys, task_runs_generation_key.
 */
export const dependenciesFirst: Invariant = {
  name: 'dependencies_first',
  title: 'No task ran before the tasks that it depends on had completed',
  sql: query<Violation>(
    'invariant_dependencies_first',
    `
SELECT 'task ' || d.task_id AS subject,
  'run ' || r.generation || ' began before ' || d.depends_on_id || ' had completed' AS problem
FROM task_dependencies d
JOIN task_runs r ON r.workspace_id = d.workspace_id AND r.task_id = d.task_id
  AND r.assigned_at >= d.created_at
JOIN agent_tasks p ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
WHERE d.policy <> 'ignore'
  AND (p.completed_at IS NULL OR p.completed_at > r.assigned_at)
  AND NOT EXISTS (
    SELECT FROM outbox_events done JOIN outbox_events begun
      ON begun.subject_kind = 'run' AND begun.subject_id = r.id AND begun.subject_version = 1
    WHERE done.subject_kind = 'task' AND done.subject_id = p.id
      AND done.payload ->> 'newStatus' = 'COMPLETED' AND done.id < begun.id)
ORDER BY d.task_id
LIMIT $1`,
  ),
};
