import { command, query } from '#lib/database';

/** Maximum number of artifacts of a run. */
export const MAX_ARTIFACTS_PER_RUN = 1_000;
/** Time after the end of a run in which its agent still stores files, such as after a timeout. */
const GRACE = `interval '15 minutes'`;

export interface ArtifactRow {
  id: string;
  task_id: string;
  run_id: string;
  name: string;
  media_type: string;
  size_bytes: number;
  sha256: string;
  created_at: Date;
}

const SHOWN =
  'a.id, a.task_id, a.run_id, a.name, a.media_type, a.size_bytes::float8 AS size_bytes, a.sha256, a.created_at';

/** The run of an upload. */
export interface RunOfUpload {
  task_id: string;
  /** The run accepts files. */
  is_open: boolean;
  /** Size of all artifacts of the workspace, without that which the upload would replace. */
  kept_bytes: number;
}

/**
 * Before an upload. Indexes: primary keys, artifacts_name_key. $1 workspace, $2 run, $3 its agent,
 * $4 name.
 */
export const runOfUpload = query<RunOfUpload>(
  'run_of_upload',
  `
SELECT r.task_id, r.ended_at IS NULL OR r.ended_at > now() - ${GRACE} AS is_open,
  (coalesce((SELECT u.bytes FROM artifact_usage u WHERE u.workspace_id = $1), 0)
    - coalesce((SELECT a.size_bytes FROM artifacts a
      WHERE a.workspace_id = $1 AND a.run_id = $2 AND a.name = $4), 0))::float8 AS kept_bytes
FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3`,
);

/** The quota that operators set for a workspace. Index: primary key. $1 workspace. */
export const ownQuota = query<{ quota_bytes: number | null }>(
  'own_quota',
  `
SELECT l.max_artifact_mb * 1048576::float8 AS quota_bytes FROM workspace_limits l WHERE l.workspace_id = $1`,
);

/**
 * Locks the sum of a workspace: of all statements that change artifacts, the first. So the next
 * one sees the sizes that the previous upload committed. Index: primary key. $1 workspace.
 */
export const lockArtifactUsage = command<{ workspace_id: string }>(
  'lock_artifact_usage',
  `
INSERT INTO artifact_usage AS u (workspace_id) VALUES ($1)
ON CONFLICT (workspace_id) DO UPDATE SET bytes = u.bytes
RETURNING u.workspace_id`,
);

export interface WrittenArtifact extends Partial<ArtifactRow> {
  /** False: nothing was written. */
  has_room: boolean;
  is_few: boolean;
  /** The artifact of the same name that the new one replaces. */
  replaced_id: string | null;
}

/**
 * Adds an artifact, or replaces that of the same name of the run. Nothing is written beyond the
 * limits. No row: the run has ended. After lockArtifactUsage.
 *
 * Indexes: primary keys, artifacts_name_key; counts at most 1,000 rows of it. $1 workspace, $2 run,
 * $3 its agent, $4 id, $5 name, $6 media type, $7 size, $8 hash, $9 quota in bytes.
 */
export const writeArtifact = command<WrittenArtifact>(
  'write_artifact',
  `
WITH run AS MATERIALIZED (
  SELECT r.id, r.task_id FROM task_runs r
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
    AND (r.ended_at IS NULL OR r.ended_at > now() - ${GRACE})
  FOR KEY SHARE
),
before AS (
  SELECT b.id, b.size_bytes FROM artifacts b WHERE b.workspace_id = $1 AND b.run_id = $2 AND b.name = $5
),
facts AS MATERIALIZED (
  SELECT run.id AS run_id, run.task_id,
    (SELECT b.id FROM before b) AS replaced_id,
    $7::bigint - coalesce((SELECT b.size_bytes FROM before b), 0) AS growth,
    u.bytes + $7::bigint - coalesce((SELECT b.size_bytes FROM before b), 0) <= $9::bigint AS has_room,
    EXISTS (SELECT FROM before) OR (SELECT count(*) FROM artifacts n
      WHERE n.workspace_id = $1 AND n.run_id = $2 AND n.kind = 'file') < ${MAX_ARTIFACTS_PER_RUN} AS is_few
  FROM run JOIN artifact_usage u ON u.workspace_id = $1
),
written AS (
  INSERT INTO artifacts AS a (workspace_id, id, task_id, run_id, name, media_type, size_bytes, sha256)
  SELECT $1, $4, f.task_id, f.run_id, $5, $6, $7, $8 FROM facts f WHERE f.has_room AND f.is_few
  ON CONFLICT (workspace_id, run_id, name) DO UPDATE SET id = excluded.id, created_at = now(),
    media_type = excluded.media_type, size_bytes = excluded.size_bytes, sha256 = excluded.sha256
  RETURNING ${SHOWN}
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes + f.growth FROM facts f
  WHERE u.workspace_id = $1 AND EXISTS (SELECT FROM written)
)
SELECT f.has_room, f.is_few, f.replaced_id, w.* FROM facts f LEFT JOIN written w ON true`,
);

/**
 * Lists the artifacts of a task, the newest first. Index: artifacts_task_idx. $1 workspace, $2 task, $3 run or
 * NULL, $4 name or NULL, $5 last id of the previous page or NULL, $6 maximum number of rows. A run has at most
 * 1,000 artifacts.
 */
export const listArtifacts = query<ArtifactRow>(
  'list_artifacts',
  `
SELECT ${SHOWN} FROM artifacts a
WHERE a.workspace_id = $1 AND a.task_id = $2 AND a.kind = 'file'
  AND ($3::uuid IS NULL OR a.run_id = $3)
  AND ($4::text IS NULL OR a.name = $4)
  AND ($5::uuid IS NULL OR a.id < $5)
ORDER BY a.id DESC LIMIT $6`,
);

/** Index: artifacts_name_key. $1 workspace, $2 run, $3 name. */
export const artifactOfRun = query<ArtifactRow>(
  'artifact_of_run',
  `
SELECT ${SHOWN} FROM artifacts a
WHERE a.workspace_id = $1 AND a.run_id = $2 AND a.name = $3 AND a.kind = 'file'`,
);

/** Index: primary key. $1 workspace, $2 run. */
export const runOfArtifacts = query<{ id: string }>(
  'run_of_artifacts',
  `
SELECT r.id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2`,
);

/**
 * A file or an attachment, which has no run. Nobody gets the state of an agent by its id. Index: primary
 * key. $1 workspace, $2 artifact.
 */
export const artifactById = query<Omit<ArtifactRow, 'run_id'> & { run_id: string | null }>(
  'artifact_by_id',
  `
SELECT ${SHOWN} FROM artifacts a WHERE a.workspace_id = $1 AND a.id = $2 AND a.kind <> 'agent_state'`,
);

/** After lockArtifactUsage. Index: primary keys. $1 workspace, $2 artifact. */
export const removeArtifact = command<{ id: string }>(
  'remove_artifact',
  `
WITH removed AS (
  DELETE FROM artifacts a WHERE a.workspace_id = $1 AND a.id = $2 AND a.kind <> 'agent_state'
  RETURNING a.id, a.size_bytes
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes - r.size_bytes FROM removed r WHERE u.workspace_id = $1
)
SELECT r.id FROM removed r`,
);
