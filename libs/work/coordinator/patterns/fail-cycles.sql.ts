import { command, query } from '#lib/database';
import { rowOf, SUBJECTS } from '../store/searches.sql.js';
import { journalRow, LOCKED_TASK_COLUMNS, type LockedTask } from '#lib/transitions';

/**
 * Cycles of dependencies: the search for them, as the service role.
 *
 * A task on a cycle both waits and is waited for, so it is between two others. Most tasks are not:
 * in a graph of three layers no edge remains. Index: agent_tasks_between_idx, then primary keys.
 * The CASE keeps this index from seeming to fit the other end of an edge. Before its first ANALYZE,
 * Postgres read the whole index for each edge. With 100,000 waiting tasks in layers of three: see
 * libs/work/coordinator/README.md, Figures.
 */
const BETWEEN = (task: string) =>
  `${task}.status = 'PENDING' AND ${task}.unmet_dependencies > 0 AND ${task}.has_dependents`;

const EDGES = (workspace: string) => `agent_tasks t
  JOIN task_dependencies d ON d.workspace_id = ${workspace} AND d.task_id = t.id
    AND d.settled_at IS NULL
  JOIN agent_tasks p ON p.workspace_id = ${workspace} AND p.id = d.depends_on_id
  WHERE t.workspace_id = ${workspace} AND ${BETWEEN('t')} AND CASE WHEN ${BETWEEN('p')} THEN true END`;

/** The workspaces in which a cycle with a task of the round is possible. Index: primary keys. */
export const workspacesWithEdgesBetween = query<{ id: string }>(
  'workspaces_with_edges_between',
  `
WITH ${SUBJECTS}
SELECT DISTINCT t.workspace_id AS id
FROM subject s ${rowOf('agent_tasks', 't')}
WHERE ${BETWEEN('t')} AND EXISTS (
  SELECT FROM task_dependencies d
  CROSS JOIN LATERAL (SELECT x.* FROM agent_tasks x
    WHERE x.workspace_id = d.workspace_id AND x.id = d.depends_on_id OFFSET 0) p
  WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id AND d.settled_at IS NULL
    AND CASE WHEN ${BETWEEN('p')} THEN true END)
ORDER BY 1
LIMIT $1`,
);

export interface EdgeRow {
  task_id: string;
  depends_on_id: string;
}

/** The edges that can be part of a cycle. $1 workspace. */
export const edgesBetween = query<EdgeRow>(
  'edges_between',
  `SELECT d.task_id, d.depends_on_id FROM ${EDGES('$1')}`,
);

/**
 * Locks the tasks that still wait, by id. The other tasks are being changed. $1 workspace, $2
 * tasks.
 */
export const lockWaiting = query<LockedTask>(
  'lock_waiting',
  `
WITH locked AS MATERIALIZED (
  SELECT t.* FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id = ANY($2::uuid[]) AND ${BETWEEN('t')}
  ORDER BY t.id
  FOR NO KEY UPDATE SKIP LOCKED
)
SELECT ${LOCKED_TASK_COLUMNS}
FROM locked t LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
ORDER BY t.id`,
);

/**
 * The edges among locked tasks, which no other transaction can change now. Index: primary key. $1
 * workspace, $2 tasks.
 */
export const edgesAmong = query<EdgeRow>(
  'edges_among',
  `
SELECT d.task_id, d.depends_on_id FROM task_dependencies d
WHERE d.workspace_id = $1 AND d.task_id = ANY($2::uuid[]) AND d.depends_on_id = ANY($2::uuid[])
  AND d.settled_at IS NULL`,
);

/**
 * The event of each cycle whose tasks have failed, with its path and the owners to notify.
 *
 * Index: primary key of workspace_members. $1 workspace, $2 JSON array of {path, tasks, length}; a
 * long cycle lists fewer ids than `length`.
 */
export const announceCycles = command<{ id: string }>(
  'announce_cycles',
  `
${journalRow(
  {
    workspace_id: '$1',
    event: "'task.dependency_cycle'",
    log_event: "''",
    task_id: '(c.path ->> 0)::uuid',
    actor_kind: "'coordinator'",
    details: `jsonb_build_object('path', c.path, 'taskIds', c.tasks, 'length', c.length,
      'ownerIds', (SELECT coalesce(jsonb_agg(m.user_id ORDER BY m.user_id), '[]')
        FROM workspace_members m WHERE m.workspace_id = $1 AND m.role = 'OWNER'))`,
  },
  `jsonb_to_recordset($2::jsonb) AS c (path jsonb, tasks jsonb, length int)`,
)}
RETURNING id`,
);
