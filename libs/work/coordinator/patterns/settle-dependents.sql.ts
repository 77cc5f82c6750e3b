import { command, query } from '#lib/database';
import {
  endedBadly,
  endedWell,
  isClosed,
  isReady,
  isWaiting,
  LOCKED_TASK_COLUMNS,
  type LockedTask,
  logLine,
  unmetWith,
} from '#lib/transitions';

/** Applies the end of prerequisites: four statements in one transaction of the service role. */

/**
 * Tasks whose end has not been propagated. Index: agent_tasks_unsettled_idx. $1 rows, $2 workspace
 * or NULL.
 */
export const lockUnsettled = query<{ workspace_id: string; id: string }>(
  'lock_unsettled',
  `
SELECT workspace_id, id FROM agent_tasks
WHERE dependents_unsettled AND ($2::uuid IS NULL OR workspace_id = $2)
ORDER BY workspace_id, id
LIMIT $1
FOR NO KEY UPDATE SKIP LOCKED`,
);

/** Condition on an edge `d` from `t` to `p`: the end of `p` satisfies it. */
const SATISFIED = `(${endedWell('p')} OR (d.policy = 'ignore' AND ${endedBadly('p')}))`;

/**
 * Condition on an edge `d` from `t` to `p`: the end of `p` changes something for `t`. An edge with
 * the policy `block` whose `p` ended badly does not count: it waits for a retry. Aborted and failed
 * tasks are updated too, because a retry must not wait for tasks that have ended meanwhile.
 */
export const CONCERNED = `(d.settled_at IS NULL AND NOT ${isClosed('t')} AND (${SATISFIED}
  OR (d.policy = 'fail' AND ${isWaiting('t')} AND ${endedBadly('p')})))`;

/**
 * Locks the dependents of these tasks, by id. Indexes: task_dependencies_depends_on_idx, primary
 * key. $1 JSON array of {workspace_id, id}, $2 maximum number of dependents of each.
 *
 * `fails` is true if a prerequisite ended badly and the edge's policy is to fail with it.
 */
export interface Dependent extends LockedTask {
  fails: boolean;
  failed_prerequisite: string | null;
}

export const lockDependents = query<Dependent>(
  'lock_dependents',
  `
WITH concerned AS MATERIALIZED (
  SELECT DISTINCT edge.workspace_id, edge.task_id
  FROM jsonb_to_recordset($1::jsonb) AS ended (workspace_id uuid, id uuid)
  JOIN agent_tasks p ON p.workspace_id = ended.workspace_id AND p.id = ended.id
  CROSS JOIN LATERAL (
    SELECT d.workspace_id, d.task_id
    FROM task_dependencies d JOIN agent_tasks t ON t.workspace_id = d.workspace_id
      AND t.id = d.task_id
    WHERE d.workspace_id = p.workspace_id AND d.depends_on_id = p.id AND ${CONCERNED}
    LIMIT $2) edge
),
waiting AS MATERIALIZED (
  SELECT t.* FROM concerned c JOIN agent_tasks t ON t.workspace_id = c.workspace_id
    AND t.id = c.task_id
  WHERE NOT ${isClosed('t')}
  ORDER BY t.workspace_id, t.id
  FOR NO KEY UPDATE OF t
)
SELECT ${LOCKED_TASK_COLUMNS}, blame.id IS NOT NULL AND ${isWaiting('t')} AS fails, blame.id AS failed_prerequisite
FROM waiting t
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
LEFT JOIN LATERAL (
  SELECT p.id FROM task_dependencies d JOIN agent_tasks p
    ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
  WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id AND d.settled_at IS NULL
    AND d.policy = 'fail' AND ${endedBadly('p')}
  LIMIT 1) blame ON true`,
);

/**
 * Settles the edges to prerequisites that completed, or whose end does not matter. Then counts the
 * unmet dependencies of each dependent again.
 *
 * Index: primary keys. $1 JSON array of the locked dependents {workspace_id, id}.
 */
export const settleEdges = command<{ workspace_id: string; id: string; released: boolean }>(
  'settle_edges',
  `
WITH edge AS MATERIALIZED (
  SELECT d.workspace_id, d.task_id, d.depends_on_id, ${SATISFIED} AS satisfied
  FROM jsonb_to_recordset($1::jsonb) AS w (workspace_id uuid, id uuid)
  JOIN task_dependencies d ON d.workspace_id = w.workspace_id AND d.task_id = w.id
    AND d.settled_at IS NULL
  JOIN agent_tasks p ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
),
settled AS (
  UPDATE task_dependencies d SET settled_at = now() FROM edge e
  WHERE e.satisfied AND d.workspace_id = e.workspace_id AND d.task_id = e.task_id
    AND d.depends_on_id = e.depends_on_id
),
unmet AS MATERIALIZED (
  SELECT workspace_id, task_id, (count(*) FILTER (WHERE NOT satisfied))::int AS edges
  FROM edge GROUP BY workspace_id, task_id
),
released AS (
  UPDATE agent_tasks t SET
    unmet_dependencies = ${unmetWith('t', 'u.edges')},
    ready_at = CASE WHEN ${unmetWith('t', 'u.edges')} = 0 THEN now() END
  FROM unmet u
  WHERE t.workspace_id = u.workspace_id AND t.id = u.task_id AND t.unmet_dependencies <> ${unmetWith('t', 'u.edges')}
  RETURNING t.workspace_id, t.id, ${isReady('t')} AS released
),
logged AS (
  ${logLine(
    {
      workspace_id: 'workspace_id',
      task_id: 'id',
      event: "'dependencies_met'",
      message: "'All its prerequisites are satisfied'",
      actor_kind: "'coordinator'",
    },
    `released WHERE released`,
  )}
)
SELECT workspace_id, id, released FROM released`,
);

/**
 * Marks the prerequisites whose end concerns no dependent any more. This is a statement of its own,
 * because it must see the changes of the others.
 *
 * Indexes: task_dependencies_depends_on_idx, primary key. $1 as in lockDependents.
 */
export const markPropagated = command<{ workspace_id: string }>(
  'mark_propagated',
  `
UPDATE agent_tasks p SET dependents_unsettled = false
FROM jsonb_to_recordset($1::jsonb) AS ended (workspace_id uuid, id uuid)
WHERE p.workspace_id = ended.workspace_id AND p.id = ended.id AND NOT EXISTS (
  SELECT FROM task_dependencies d JOIN agent_tasks t ON t.workspace_id = d.workspace_id
    AND t.id = d.task_id
  WHERE d.workspace_id = p.workspace_id AND d.depends_on_id = p.id AND ${CONCERNED})
RETURNING p.workspace_id`,
);
