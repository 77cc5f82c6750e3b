import { command, query } from '#lib/database';
import type { ColumnOfTask, Original } from '#lib/secrets';
import { endedBadly, recordOfChange } from '#lib/transitions';
import type { DeadEdge } from '../domain/replay-request.js';
import type { TaskRow } from '../domain/task-view.js';
import { TASK_COLUMNS } from '../store/task-columns.sql.js';

/** Tasks that failed for good in the same way. */
export interface DeadLetterGroupRow {
  fingerprint: string;
  count: number;
  task_id: string;
  title: string;
  task_type: string;
  reason: string | null;
  last_error: string | null;
  failed_at: Date;
}

/**
 * The groups of the dead letter with their newest task, the largest first. Index:
 * agent_tasks_dead_idx alone for the counts. With 100,000 dead tasks in 1,000 groups, on two busy cores: 120 ms
 * (220 ms with the newest task by array_agg).
 * $1 workspace, $2 and $3 size and fingerprint of the last group of the previous page or NULL, $4
 * maximum number of rows.
 */
export const listDeadLetterGroups = query<DeadLetterGroupRow>(
  'list_dead_letter_groups',
  `
WITH groups AS MATERIALIZED (
  SELECT t.failure_fingerprint AS fingerprint, count(*)::int AS count
  FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.failure_fingerprint IS NOT NULL
  GROUP BY t.failure_fingerprint
),
page AS (
  SELECT g.* FROM groups g
  WHERE $2::int IS NULL OR g.count < $2 OR (g.count = $2 AND g.fingerprint > $3)
  ORDER BY g.count DESC, g.fingerprint LIMIT $4
)
SELECT p.fingerprint, p.count, t.id AS task_id, t.title, t.task_type, coalesce(t.failure_reason, t.abort_reason) AS reason,
  t.last_error, coalesce(t.failed_at, t.aborted_at) AS failed_at
FROM page p CROSS JOIN LATERAL (
  SELECT t.* FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.failure_fingerprint = p.fingerprint
  ORDER BY t.id DESC LIMIT 1) t
ORDER BY p.count DESC, p.fingerprint`,
);

/** A dead task with the originals of its secrets, and its dependencies. */
export interface DeadTaskRow extends TaskRow {
  originals: Original<ColumnOfTask>[] | null;
  edges: DeadEdge[] | null;
}

/**
 * The last replay of a prerequisite, or the prerequisite itself. Each replay is younger than the
 * task that it replays, so the walk ends.
 */
const LAST_REPLAY = `
  WITH RECURSIVE later (id, next) AS (
    SELECT p.id, p.replayed_by_id FROM agent_tasks p WHERE p.workspace_id = $1 AND p.id = d.depends_on_id
    UNION ALL
    SELECT p.id, p.replayed_by_id FROM later l
    JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = l.next
  )
  SELECT p.* FROM later l JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = l.id
  WHERE l.next IS NULL`;

/**
 * The dead tasks among the given ones, with their dependencies. Indexes: primary keys. $1 workspace,
 * $2 tasks.
 */
export const deadTasks = query<DeadTaskRow>(
  'dead_tasks',
  `
SELECT ${TASK_COLUMNS}, (SELECT jsonb_agg(to_jsonb(s)) FROM task_secrets s
  WHERE s.workspace_id = $1 AND s.task_id = t.id) AS originals,
  (SELECT jsonb_agg(jsonb_build_object('taskId', p.id, 'policy', d.policy,
      'isDead', p.failure_fingerprint IS NOT NULL, 'endedBadly', ${endedBadly('p')}) ORDER BY p.id)
    FROM task_dependencies d CROSS JOIN LATERAL (${LAST_REPLAY}) p
    WHERE d.workspace_id = $1 AND d.task_id = t.id) AS edges
FROM agent_tasks t
WHERE t.workspace_id = $1 AND t.id = ANY ($2::uuid[]) AND t.failure_fingerprint IS NOT NULL
ORDER BY t.id`,
);

/**
 * Links replays to dead tasks, in the transaction that creates them. A task that has left the dead
 * letter meanwhile has no row in the answer. Index: primary keys. $1 workspace, $2 dead tasks, $3 to
 * $6 see recordOfChange, $7 their replays, in pairs.
 */
export const linkReplays = command<{ id: string }>(
  'link_replays',
  `
WITH pairs AS MATERIALIZED (
  SELECT * FROM unnest($2::uuid[], $7::uuid[]) AS p (dead_id, replay_id)
),
dead AS MATERIALIZED (
  SELECT p.* FROM pairs p
  JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = p.dead_id AND t.failure_fingerprint IS NOT NULL
  ORDER BY p.dead_id
  FOR NO KEY UPDATE OF t
),
linked AS (
  UPDATE agent_tasks t SET replays_id = d.dead_id FROM dead d WHERE t.workspace_id = $1 AND t.id = d.replay_id
),
changed AS (
  UPDATE agent_tasks t SET replayed_by_id = d.replay_id, failure_fingerprint = NULL, version = t.version + 1,
    updated_at = now()
  FROM dead d WHERE t.workspace_id = $1 AND t.id = d.dead_id
  RETURNING t.id, t.version, t.status
),
${recordOfChange('task_updated')}
SELECT id FROM changed`,
);

/**
 * These tasks need no replay any more. Under their locks. Index: primary key. $1 workspace, $2 tasks,
 * $3 to $6 see recordOfChange.
 */
export const leaveDeadLetter = command<{ id: string }>(
  'leave_dead_letter',
  `
WITH changed AS (
  UPDATE agent_tasks t SET failure_fingerprint = NULL, version = t.version + 1, updated_at = now()
  WHERE t.workspace_id = $1 AND t.id = ANY ($2::uuid[]) AND t.failure_fingerprint IS NOT NULL
  RETURNING t.id, t.version, t.status
),
${recordOfChange('task_updated')}
SELECT id FROM changed`,
);
