import { command, query } from '#lib/database';

/**
 * Locks the sums of the workspaces that have the oldest expired artifacts, as uploads do first.
 * Index: artifacts_created_idx. $1 retention in days, $2 maximum number of artifacts.
 */
export const lockUsageOfExpiredArtifacts = command<{ workspace_id: string }>(
  'lock_usage_of_expired_artifacts',
  `
SELECT u.workspace_id FROM artifact_usage u
WHERE u.workspace_id IN (SELECT e.workspace_id FROM (
  SELECT a.workspace_id FROM artifacts a WHERE a.created_at < now() - make_interval(days => $1)
  ORDER BY a.created_at LIMIT $2) e)
ORDER BY u.workspace_id FOR UPDATE`,
);

/**
 * Removes expired artifacts of the locked workspaces. Index: artifacts_created_idx, primary keys.
 * $1 retention in days, $2 maximum number of artifacts, $3 workspaces.
 */
export const removeExpiredArtifacts = command<{ id: string }>(
  'remove_expired_artifacts',
  `
WITH removed AS (
  DELETE FROM artifacts a USING (
    SELECT e.workspace_id, e.id FROM artifacts e
    WHERE e.created_at < now() - make_interval(days => $1) AND e.workspace_id = ANY ($3::uuid[])
    ORDER BY e.created_at LIMIT $2) e
  WHERE a.workspace_id = e.workspace_id AND a.id = e.id
  RETURNING a.workspace_id, a.id, a.size_bytes
),
counted AS (
  UPDATE artifact_usage u SET bytes = u.bytes - r.bytes
  FROM (SELECT r.workspace_id, sum(r.size_bytes) AS bytes FROM removed r GROUP BY r.workspace_id) r
  WHERE u.workspace_id = r.workspace_id
)
SELECT r.id FROM removed r`,
);

/** Finds the ids that belong to artifacts. Index: artifacts_id_idx. $1 ids. */
export const knownArtifacts = query<{ id: string }>(
  'known_artifacts',
  `
SELECT a.id FROM artifacts a WHERE a.id = ANY ($1::uuid[])`,
);
