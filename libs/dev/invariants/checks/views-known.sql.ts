import { query } from '#lib/database';
import { isLiveRun } from '#lib/transitions';

/** A part of a view in Valkey as Postgres has it. */
export interface KnownView {
  /** NULL: `member` is a name whose keys can show another state, since it has just changed. */
  key: string | null;
  member: string;
  value: string;
}

/** The lists of retries have at most this many tasks. */
const MAX_LISTED = 1_000;

/** SQL: milliseconds since 1970. */
const ms = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)::bigint`;

/**
 * The views of tasks, runs and agents that belong into Valkey, and the names that changed after a
 * position of the journal. It leaves out keys that two workspaces share, and agents that have sent
 * no heartbeat, since no event names them.
 *
 * Reads whole tables. $1 position of the views.
 */
export const viewsKnown = query<KnownView>(
  'invariant_views_known',
  `
WITH later AS MATERIALIZED (
  SELECT j.workspace_id, j.task_id, j.run_id, j.agent_id FROM journal j WHERE j.id > $1::bigint
),
live AS MATERIALIZED (
  SELECT r.*, coalesce(r.session_key, r.id::text) AS session,
    row_number() OVER (PARTITION BY r.workspace_id, r.agent_id
      ORDER BY r.assigned_at DESC, r.id DESC) AS recency
  FROM task_runs r WHERE ${isLiveRun('r')}
),
retry AS (
  SELECT t.workspace_id, t.id,
    row_number() OVER (PARTITION BY t.workspace_id ORDER BY t.retry_at, t.id) AS place
  FROM agent_tasks t WHERE t.status = 'ABORTED' AND t.retry_at IS NOT NULL
),
session AS (
  SELECT s.* FROM live s
  WHERE (SELECT count(*) FROM live o WHERE o.session = s.session) = 1
    AND NOT EXISTS (SELECT FROM later l
      WHERE l.workspace_id = s.workspace_id AND l.task_id = s.task_id)
)
SELECT 'tasks:pending:' || t.workspace_id AS key, t.id::text AS member,
  ((10 - t.priority) * 10000000000000 + ${ms('t.created_at')})::text AS value
FROM agent_tasks t WHERE t.status = 'PENDING'
UNION ALL
SELECT 'tasks:active:' || workspace_id, task_id || ':' || session, '' FROM live
UNION ALL
SELECT 'agent:tasks:' || agent_id, task_id::text, ${ms('assigned_at')}::text FROM live
UNION ALL
SELECT 'agent:status:' || a.id, 'status', a.status FROM agents a WHERE a.lifecycle <> 'TERMINATED'
UNION ALL
SELECT 'agent:status:' || agent_id, 'current_task', task_id::text FROM live WHERE recency = 1
UNION ALL
SELECT 'coordinator:stale_agents', a.id::text, '' FROM agents a WHERE a.status = 'ERROR'
UNION ALL
SELECT 'coordinator:recovery_queue:' || workspace_id, id::text, place::text
FROM retry WHERE place <= ${MAX_LISTED}
UNION ALL
SELECT 'session:context:' || s.session, f.name, f.value FROM session s
CROSS JOIN LATERAL (VALUES ('workspace_id', s.workspace_id::text), ('agent_id', s.agent_id::text),
  ('task_id', s.task_id::text), ('started_at', ${ms('s.started_at')}::text)) AS f (name, value)
WHERE f.value IS NOT NULL
UNION ALL
SELECT NULL, n.name, '' FROM later l CROSS JOIN LATERAL (VALUES (l.task_id::text), (l.run_id::text),
  (l.agent_id::text), ('retries ' || l.workspace_id)) AS n (name)
WHERE n.name IS NOT NULL
UNION ALL
SELECT NULL, a.id::text, '' FROM agents a
GROUP BY a.id HAVING count(*) > 1 OR bool_or(a.lifecycle = 'STARTING')`,
);
