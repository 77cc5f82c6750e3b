import { query } from '#lib/database';
import type { Invariant, Violation } from '../invariant.js';

/** Events are kept for at least one day; what is younger must be there. */
const KEPT = `now() - interval '23 hours'`;

/**
 * Each version of a task and of a run has exactly one event, no event tells of a version that never
 * was, and the numbers that the relay gave to a workspace's events have no gap.
 *
 * An event without a version (progress) tells of no transition. Younger than a day only: published events are pruned after that, as the installation wishes.
 * Reads the young versioned log entries, the runs and the events; each is hashed once.
 */
export const oneEventEach: Invariant = {
  name: 'one_event_each',
  title: 'Each transition has exactly one event, and events are numbered without a gap',
  sql: query<Violation>(
    'invariant_one_event_each',
    `
WITH event AS MATERIALIZED (
  SELECT workspace_id, subject_kind::text AS kind, subject_id AS id, subject_version AS version,
    count(*) AS events
  FROM outbox_events
  WHERE subject_kind IN ('task', 'run') AND subject_version IS NOT NULL AND created_at > ${KEPT}
  GROUP BY 1, 2, 3, 4
),
transition AS MATERIALIZED (
  SELECT workspace_id, 'task' AS kind, task_id AS id, task_version AS version
  FROM agent_task_logs WHERE task_version IS NOT NULL AND created_at > ${KEPT}
  UNION ALL
  SELECT r.workspace_id, 'run', r.id, v.version
  FROM task_runs r CROSS JOIN generate_series(1, r.version) AS v (version)
  WHERE r.assigned_at > ${KEPT}
),
numbered AS (
  SELECT c.workspace_id, c.last_seq, count(e.id) AS events,
    coalesce(max(e.workspace_seq) - min(e.workspace_seq) + 1, 0) AS span, max(e.workspace_seq) AS latest
  FROM outbox_counters c
  LEFT JOIN outbox_events e ON e.workspace_id = c.workspace_id AND e.workspace_seq IS NOT NULL
  GROUP BY 1, 2
)
SELECT coalesce(t.kind, e.kind) || ' ' || coalesce(t.id, e.id) AS subject,
  'version ' || coalesce(t.version, e.version) || CASE
    WHEN t.id IS NULL THEN ' has an event, and never was'
    ELSE ' has ' || coalesce(e.events, 0) || ' events' END AS problem
FROM transition t
FULL JOIN event e USING (workspace_id, kind, id, version)
WHERE coalesce(e.events, 0) <> 1
  OR (t.id IS NULL AND NOT (e.kind = 'run' AND EXISTS (
    SELECT FROM task_runs r WHERE r.workspace_id = e.workspace_id AND r.id = e.id AND e.version <= r.version)))
UNION ALL
SELECT 'workspace ' || workspace_id, 'numbered ' || last_seq || ' events, and those that are kept end with '
  || coalesce(latest, 0) || ' and are ' || events || ' of ' || span
FROM numbered
WHERE events <> span OR (latest IS NOT NULL AND latest <> last_seq)
ORDER BY 1
LIMIT $1`,
  ),
};
