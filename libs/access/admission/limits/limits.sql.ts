import { command, query } from '#lib/database';

export interface LimitsRow {
  workspace_id: string;
  max_queue_depth: number | null;
  spawns_per_minute: number | null;
  max_artifact_mb: number | null;
  version: number;
}

/** A row for every existing workspace. Index: primary keys. $1 workspace. */
export const readLimits = query<LimitsRow>(
  'read_limits',
  `
SELECT w.id AS workspace_id, l.max_queue_depth, l.spawns_per_minute, l.max_artifact_mb,
  coalesce(l.version, 0) AS version
FROM workspaces w LEFT JOIN workspace_limits l ON l.workspace_id = w.id
WHERE w.id = $1`,
);

/**
 * No row if the workspace does not exist or its limits have another version. A new or changed rate
 * of spawns starts with a full bucket, whatever the previous one had left: a rate of 0 leaves an
 * empty bucket.
 *
 * As the service role, for an operator. Index: primary keys. $1 workspace, $2 queue depth or NULL,
 * $3 spawns a minute or
 * NULL, $4 MiB of artifacts or NULL, $5 version wanted or NULL, $6 whether $4 is left as it is.
 */
export const writeLimits = command<LimitsRow>(
  'write_limits',
  `
WITH written AS (
  INSERT INTO workspace_limits AS l (workspace_id, max_queue_depth, spawns_per_minute, max_artifact_mb)
  SELECT w.id, $2, $3, $4 FROM workspaces w
  WHERE w.id = $1 AND coalesce($5::int, 0) IN (0, (SELECT version FROM workspace_limits WHERE workspace_id = $1))
  ON CONFLICT (workspace_id) DO UPDATE SET max_queue_depth = excluded.max_queue_depth,
    spawns_per_minute = excluded.spawns_per_minute, max_artifact_mb = CASE WHEN $6 THEN l.max_artifact_mb ELSE excluded.max_artifact_mb END,
    version = l.version + 1, updated_at = now()
  WHERE $5::int IS NULL OR l.version = $5
  RETURNING l.*, old.spawns_per_minute IS DISTINCT FROM l.spawns_per_minute AS rate_changed),
bucket AS (
  INSERT INTO spawn_allowances (workspace_id, tokens)
  SELECT workspace_id, spawns_per_minute FROM written WHERE rate_changed AND spawns_per_minute IS NOT NULL
  ON CONFLICT (workspace_id) DO UPDATE SET tokens = excluded.tokens, filled_at = now())
SELECT workspace_id, max_queue_depth, spawns_per_minute, max_artifact_mb, version FROM written`,
);
