import { command } from '#lib/database';
import { capabilityKeyOf, mayStillRun } from '#lib/transitions';

/**
 * Removes sets of capabilities that no task requires any more, since each claim reads all sets of
 * its workspace. It reads $1 sets at a time that were unused for a day, the longest unused first. A
 * set counts as used now if a task that can run, or run again, has it. So each set is read once a
 * day.
 *
 * A set comes into use only when a task is created or its requirements change. Both record the use
 * in their own statement. A COMPLETED or ARCHIVED task never returns. Neither writer loses its set.
 * One that found the set used in the last half day has committed long before a day has passed, and
 * is seen here. One that found an older use writes `used_at`, or waits here for the lock to do so.
 * It then inserts a new row: ON CONFLICT DO UPDATE sees committed rows.
 *
 * As the service role. Indexes: agent_tasks_status_idx of each workspace with such a set, once;
 * capability_sets has few rows. Sets that are being written are skipped.
 *
 * Measured with 200 sets and 220,000 tasks, 20,000 of them waiting: 15 ms, and 0.3 ms when there is
 * no such set.
 */
export const pruneCapabilitySets = command<{ looked_at: number; removed: number }>(
  'prune_capability_sets',
  `
WITH unused AS MATERIALIZED (
  SELECT s.workspace_id, s.key FROM capability_sets s
  WHERE s.used_at < now() - interval '1 day'
  ORDER BY s.used_at
  LIMIT $1
  FOR UPDATE SKIP LOCKED
),
needed AS MATERIALIZED (
  SELECT DISTINCT t.workspace_id, ${capabilityKeyOf('t')} AS key
  FROM (SELECT DISTINCT workspace_id FROM unused) w
  JOIN agent_tasks t ON t.workspace_id = w.workspace_id
    AND ${mayStillRun('t')}
),
judged AS MATERIALIZED (
  SELECT u.workspace_id, u.key, n.key IS NOT NULL AS is_needed
  FROM unused u LEFT JOIN needed n ON n.workspace_id = u.workspace_id AND n.key = u.key
),
kept AS (
  UPDATE capability_sets s SET used_at = now() FROM judged j
  WHERE j.is_needed AND s.workspace_id = j.workspace_id AND s.key = j.key
),
removed AS (
  DELETE FROM capability_sets s USING judged j
  WHERE NOT j.is_needed AND s.workspace_id = j.workspace_id AND s.key = j.key
  RETURNING 1
)
SELECT (SELECT count(*)::int FROM unused) AS looked_at,
  (SELECT count(*)::int FROM removed) AS removed`,
);
