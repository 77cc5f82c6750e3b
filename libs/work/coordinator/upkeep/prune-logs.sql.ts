import { command } from '#lib/database';

/**
 * Removes lines of the coordinator's log that are older than $1 days, from the $2 oldest.
 *
 * As the service role. Index: primary key, from its start. Ids are in the order of
 * writing, which is nearly that of time, so created_at needs no index.
 */
export const pruneCoordinatorLogs = command<{ removed: number }>(
  'prune_coordinator_logs',
  `
WITH oldest AS MATERIALIZED (
  SELECT id, created_at FROM coordinator_logs ORDER BY id LIMIT $2
),
pruned AS (
  DELETE FROM coordinator_logs WHERE id = ANY(ARRAY(
    SELECT id FROM oldest WHERE created_at < now() - make_interval(days => $1)))
  RETURNING 1
)
SELECT count(*)::int AS removed FROM pruned`,
);
