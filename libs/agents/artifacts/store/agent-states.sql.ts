import { command, query } from '#lib/database';
import { isLiveRun } from '#lib/transitions';

/**
 * The name of an agent's state. No file of a run can have it, because its last part is empty.
 */
const NAME = 'state/';
const MEDIA_TYPE = 'application/gzip';

/**
 * It is live, or it has asked a person and its task waits for the answer: an agent asks in the middle
 * of its work, so its host keeps the last state after that. Index: primary key of tasks.
 */
const canKeepState = (r: string) => `(${isLiveRun(r)} OR EXISTS (
    SELECT FROM agent_tasks t WHERE t.workspace_id = ${r}.workspace_id AND t.id = ${r}.task_id
      AND t.generation = ${r}.generation AND t.paused_for IN ('question', 'review')))`;

/** The room for the state of a run. */
export interface RoomOfState {
  task_id: string;
  /** Size of all artifacts of the workspace, without the state that the new one replaces. */
  kept_bytes: number;
}

/**
 * No row: the run can keep no state. Indexes: primary keys, artifacts_state_key. $1 workspace, $2
 * run, $3 its agent.
 */
export const roomOfAgentState = query<RoomOfState>(
  'room_of_agent_state',
  `
SELECT r.task_id,
  (coalesce((SELECT u.bytes FROM artifact_usage u WHERE u.workspace_id = $1), 0)
    - coalesce((SELECT a.size_bytes FROM artifacts a
      WHERE a.workspace_id = $1 AND a.task_id = r.task_id AND a.kind = 'agent_state'), 0))::float8 AS kept_bytes
FROM task_runs r
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND ${canKeepState('r')}`,
);

export interface WrittenState {
  /** Null: nothing was written, because there is no room. */
  id: string | null;
  /** The earlier state of the task. */
  replaced_id: string | null;
}

/**
 * Writes the state of a task's agent in place of the earlier one. No row: the run
 * can keep none. After lockArtifactUsage.
 *
 * Indexes: primary keys, artifacts_state_key. $1 workspace, $2 run, $3 its agent, $4 id, $5 size, $6
 * hash, $7 quota in bytes, $8 data key.
 */
export const writeAgentState = command<WrittenState>(
  'write_agent_state',
  `
WITH run AS MATERIALIZED (
  SELECT r.id, r.task_id FROM task_runs r
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND ${canKeepState('r')}
  FOR KEY SHARE
),
facts AS MATERIALIZED (
  SELECT run.id AS run_id, run.task_id, b.id AS replaced_id,
    $5::bigint - coalesce(b.size_bytes, 0) AS growth,
    u.bytes + $5::bigint - coalesce(b.size_bytes, 0) <= $7::bigint AS has_room
  FROM run JOIN artifact_usage u ON u.workspace_id = $1
  LEFT JOIN artifacts b ON b.workspace_id = $1 AND b.task_id = run.task_id AND b.kind = 'agent_state'
),
written AS (
  INSERT INTO artifacts AS a
    (workspace_id, id, task_id, run_id, name, media_type, size_bytes, sha256, kind, key_id)
  SELECT $1, $4, f.task_id, f.run_id, '${NAME}', '${MEDIA_TYPE}', $5, $6, 'agent_state', $8
  FROM facts f WHERE f.has_room
  ON CONFLICT (workspace_id, task_id) WHERE kind = 'agent_state' DO UPDATE SET id = excluded.id,
    run_id = excluded.run_id, created_at = now(), size_bytes = excluded.size_bytes,
    sha256 = excluded.sha256, key_id = excluded.key_id
  RETURNING a.id
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes + f.growth FROM facts f
  WHERE u.workspace_id = $1 AND EXISTS (SELECT FROM written)
)
SELECT f.replaced_id, (SELECT w.id FROM written w) AS id FROM facts f`,
);

/** The kept state of a task's agent. Its members are null if there is none. */
export interface StateOfRun {
  id: string | null;
  task_id: string | null;
  size_bytes: number | null;
  sha256: string | null;
  key_id: string | null;
}

/**
 * The state of a live run's task, else that of the task that it continues. No row: the run is not
 * live. Indexes: primary keys, artifacts_state_key. $1 workspace, $2 run, $3 its agent.
 */
export const agentStateOfRun = query<StateOfRun>(
  'agent_state_of_run',
  `
SELECT a.id, a.task_id, a.size_bytes::float8 AS size_bytes, a.sha256, a.key_id
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id
LEFT JOIN LATERAL (
  SELECT s.* FROM artifacts s
  WHERE s.workspace_id = $1 AND s.kind = 'agent_state' AND s.task_id = ANY (ARRAY[t.id, t.continues_id])
  ORDER BY s.task_id = t.id DESC LIMIT 1) a ON true
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND ${isLiveRun('r')}`,
);

/**
 * Removes the oldest states of a workspace until the wanted bytes are free, or none if all together
 * have less than the needed bytes. After lockArtifactUsage.
 *
 * It reads all states of the workspace (0.3 s of 20,000 on a busy machine). So it frees more than is
 * needed, and runs rarely. Index: artifacts_state_key. $1 workspace, $2 needed bytes, $3 a task whose
 * state stays, or NULL, $4 wanted bytes.
 */
export const evictAgentStates = command<{ id: string }>(
  'evict_agent_states',
  `
WITH oldest AS (
  SELECT a.id, sum(a.size_bytes) OVER () AS total,
    sum(a.size_bytes) OVER (ORDER BY a.created_at, a.id) - a.size_bytes AS freed
  FROM artifacts a
  WHERE a.workspace_id = $1 AND a.kind = 'agent_state' AND a.task_id IS DISTINCT FROM $3::uuid
),
removed AS (
  DELETE FROM artifacts a USING oldest o
  WHERE a.workspace_id = $1 AND a.id = o.id AND o.freed < $4::bigint AND o.total >= $2::bigint
  RETURNING a.id, a.size_bytes
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes - r.size_bytes
  FROM (SELECT sum(r.size_bytes) AS size_bytes FROM removed r) r
  WHERE u.workspace_id = $1 AND r.size_bytes IS NOT NULL
)
SELECT r.id FROM removed r`,
);
