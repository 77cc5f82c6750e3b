import { query } from '#lib/database';
import type { Invariant, Violation } from './invariant.js';
import { KEPT } from './kept.js';

/**
 * Each version of a task and of a run has exactly one row of the journal, and no row has a version
 * that never existed. For data older than the stored journal, this holds from the oldest stored
 * version on. It also holds for runs from before the journal, whose events had a shorter retention
 * than the log that they became part of. Consumers that started with the oldest event have counted
 * everything in the journal up to their position. They may have had more, from rows that are no
 * longer stored, but each message has an id below twice the position.
 *
 * A row without a version (progress) is no transition. Reads the tasks, the runs and the journal,
 * each hashed once.
 */
export const oneEventEach: Invariant = {
  name: 'one_event_each',
  title: 'Each transition has exactly one event, and no event was passed over',
  sql: query<Violation>(
    'invariant_one_event_each',
    `
WITH ${KEPT},
event AS MATERIALIZED (
  SELECT j.workspace_id, v.kind, v.id, v.version, count(*) AS events
  FROM journal j CROSS JOIN LATERAL (
    SELECT 'task' AS kind, j.task_id AS id, j.version WHERE j.task_id IS NOT NULL AND j.version IS NOT NULL
    UNION ALL
    SELECT 'run', j.run_id, j.run_version WHERE j.run_version IS NOT NULL) v
  GROUP BY 1, 2, 3, 4
),
oldest AS (
  SELECT workspace_id, kind, id, min(version) AS version FROM event GROUP BY 1, 2, 3
),
subject AS (
  SELECT t.workspace_id, 'task' AS kind, t.id, t.version, t.created_at >= k.since AS is_whole
  FROM agent_tasks t CROSS JOIN kept k
  UNION ALL
  SELECT r.workspace_id, 'run', r.id, r.version, r.assigned_at >= greatest(k.since, (
    SELECT max(started_at) FROM _prisma_migrations WHERE migration_name = '20261122000000_journal'))
  FROM task_runs r CROSS JOIN kept k
),
transition AS MATERIALIZED (
  SELECT s.workspace_id, s.kind, s.id, v.version
  FROM subject s LEFT JOIN oldest o USING (workspace_id, kind, id)
  CROSS JOIN LATERAL generate_series(
    CASE WHEN s.is_whole THEN 1 ELSE coalesce(o.version, s.version + 1) END, s.version) AS v (version)
),
counted AS (
  SELECT n.consumer, n.workspace_id, n.last_number, c.position,
    count(j.id) + count(j.run_version) FILTER (WHERE j.event = 'task.status_changed') AS messages
  FROM event_numbers n JOIN event_consumers c ON c.name = n.consumer AND c.name IN ('channels', 'webhooks')
  LEFT JOIN journal j ON j.workspace_id = n.workspace_id AND j.id <= c.position
  GROUP BY 1, 2, 3, 4
)
SELECT coalesce(t.kind, e.kind) || ' ' || coalesce(t.id, e.id) AS subject,
  'version ' || coalesce(t.version, e.version) || CASE
    WHEN t.id IS NULL THEN ' has an event, and never was'
    ELSE ' has ' || coalesce(e.events, 0) || ' events' END AS problem
FROM transition t
FULL JOIN event e USING (workspace_id, kind, id, version)
WHERE coalesce(e.events, 0) <> 1 OR t.id IS NULL
UNION ALL
SELECT 'workspace ' || workspace_id, consumer || ' has numbered ' || last_number || ' messages, and the journal holds '
  || messages || ' up to ' || position
FROM counted
WHERE last_number < messages OR last_number > 2 * position
ORDER BY 1
LIMIT $1`,
  ),
};
