import { command, query } from '#lib/database';
import type { LockedTask } from '../domain/locked-task.js';
import { LOCKED_TASK_COLUMNS } from './lock-tasks.sql.js';

/**
 * Takes account of ended prerequisites: three statements in one transaction of the service role.
 *
 * Caller: TaskRecovery.settleDependents.
 */

/** Tasks that have ended and whose dependents nobody has told. Index: agent_tasks_unsettled_idx. $1 rows, $2 workspace or NULL. */
export const lockUnsettled = query<{ workspace_id: string; id: string }>(
  'lock_unsettled',
  `
SELECT workspace_id, id FROM agent_tasks
WHERE dependents_unsettled AND ($2::uuid IS NULL OR workspace_id = $2)
ORDER BY workspace_id, id
LIMIT $1
FOR NO KEY UPDATE SKIP LOCKED`,
);

/**
 * Locks the dependents of those, by id: also ones that have been aborted or have failed, because a retry
 * must not wait for what has ended meanwhile.
 * Index: task_dependencies_depends_on_idx, primary key. $1 JSON array of {workspace_id, id}.
 *
 * `fails` says that one of the prerequisites ended badly and the edge's policy is to fail with it.
 */
export interface Dependent extends LockedTask {
  fails: boolean;
  failed_prerequisite: string | null;
}

const ENDED_BADLY = `(p.status = 'FAILED' OR (p.status = 'ABORTED' AND p.retry_at IS NULL)
  OR (p.status = 'ARCHIVED' AND p.completed_at IS NULL))`;

export const lockDependents = query<Dependent>(
  'lock_dependents',
  `
WITH waiting AS MATERIALIZED (
  SELECT t.* FROM agent_tasks t
  WHERE t.status NOT IN ('COMPLETED', 'ARCHIVED') AND (t.workspace_id, t.id) IN (
    SELECT d.workspace_id, d.task_id
    FROM jsonb_to_recordset($1::jsonb) AS ended (workspace_id uuid, id uuid)
    JOIN task_dependencies d ON d.workspace_id = ended.workspace_id AND d.depends_on_id = ended.id
    WHERE d.settled_at IS NULL)
  ORDER BY t.workspace_id, t.id
  FOR NO KEY UPDATE
)
SELECT ${LOCKED_TASK_COLUMNS}, blame.id IS NOT NULL AND t.status IN ('PENDING', 'PAUSED') AS fails, blame.id AS failed_prerequisite
FROM waiting t
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
LEFT JOIN LATERAL (
  SELECT p.id FROM task_dependencies d JOIN agent_tasks p
    ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
  WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id AND d.settled_at IS NULL
    AND d.policy = 'fail' AND ${ENDED_BADLY}
  LIMIT 1) blame ON true`,
);

/**
 * Settles the edges to prerequisites that completed (or whose end does not matter), counts anew what
 * each dependent still waits for, and marks the prerequisites as told.
 *
 * $1 as above; $2 JSON array of the dependents {workspace_id, id} that are under lock.
 */
export const settleEdges = command<{ workspace_id: string; id: string; released: boolean }>(
  'settle_edges',
  `
WITH ended AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS e (workspace_id uuid, id uuid)
),
dependent AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS e (workspace_id uuid, id uuid)
),
satisfied AS MATERIALIZED (
  SELECT d.workspace_id, d.task_id, d.depends_on_id
  FROM dependent w
  JOIN task_dependencies d ON d.workspace_id = w.workspace_id AND d.task_id = w.id AND d.settled_at IS NULL
  JOIN agent_tasks p ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
  WHERE p.status = 'COMPLETED' OR (p.status = 'ARCHIVED' AND p.completed_at IS NOT NULL)
    OR (d.policy = 'ignore' AND ${ENDED_BADLY})
),
settled AS (
  UPDATE task_dependencies d SET settled_at = now() FROM satisfied s
  WHERE d.workspace_id = s.workspace_id AND d.task_id = s.task_id AND d.depends_on_id = s.depends_on_id
),
told AS (
  UPDATE agent_tasks t SET dependents_unsettled = false FROM ended e
  WHERE t.workspace_id = e.workspace_id AND t.id = e.id
    -- One that waits for another of this batch is updated below, and a row is updated once.
    AND NOT EXISTS (SELECT FROM dependent w WHERE w.workspace_id = t.workspace_id AND w.id = t.id)
),
unmet AS MATERIALIZED (
  SELECT w.workspace_id, w.id, (
    SELECT count(*)::int FROM task_dependencies d
    WHERE d.workspace_id = w.workspace_id AND d.task_id = w.id AND d.settled_at IS NULL
  ) - (
    SELECT count(*)::int FROM satisfied s WHERE s.workspace_id = w.workspace_id AND s.task_id = w.id
  ) AS edges
  FROM dependent w
),
released AS (
  UPDATE agent_tasks t SET
    unmet_dependencies = u.edges,
    ready_at = CASE WHEN u.edges = 0 THEN now() END
  FROM unmet u
  WHERE t.workspace_id = u.workspace_id AND t.id = u.id AND t.unmet_dependencies <> u.edges
  RETURNING t.workspace_id, t.id, t.status = 'PENDING' AND t.unmet_dependencies = 0 AS released
),
logged AS (
  INSERT INTO agent_task_logs (workspace_id, task_id, event, message, actor_kind)
  SELECT workspace_id, id, 'dependencies_met', 'Every task that it waited for has ended well', 'coordinator'
  FROM released WHERE released
)
SELECT workspace_id, id, released FROM released`,
);
