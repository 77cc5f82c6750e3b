import { query } from '#lib/database';
import { endedBadly, type TaskStatus } from '#lib/transitions';

/** A task without dependencies at the end of another task's chain. */
export interface RootRow {
  id: string;
  title: string;
  status: TaskStatus;
  ended_without_success: boolean;
  retry_at: Date | null;
}

/**
 * The tasks at the ends of a task's chains, unsuccessful ones first, without its own dependencies.
 * A circle has no end. Of a graph with more than $3 edges, some.
 *
 * Indexes: primary keys of task_dependencies and agent_tasks. $1 workspace, $2 task, $3 maximum
 * number of edges, $4 maximum number of rows.
 */
export const rootsOfWaiting = query<RootRow>(
  'roots_of_waiting',
  `
WITH RECURSIVE edge AS (
  SELECT d.task_id, d.depends_on_id FROM task_dependencies d
  WHERE d.workspace_id = $1 AND d.task_id = $2 AND d.settled_at IS NULL
  UNION
  SELECT d.task_id, d.depends_on_id
  FROM edge e JOIN task_dependencies d
    ON d.workspace_id = $1 AND d.task_id = e.depends_on_id AND d.settled_at IS NULL
),
seen AS MATERIALIZED (
  SELECT task_id, depends_on_id FROM edge LIMIT $3
)
SELECT p.id, p.title, p.status, p.retry_at, ${endedBadly('p')} AS ended_without_success
FROM (SELECT DISTINCT depends_on_id FROM seen WHERE task_id <> $2) s
JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = s.depends_on_id
WHERE (p.unmet_dependencies = 0 OR ${endedBadly('p')})
  AND p.id NOT IN (SELECT depends_on_id FROM seen WHERE task_id = $2)
ORDER BY ended_without_success DESC, p.id
LIMIT $4`,
);
