import { query } from '#lib/database';
import { LIVE_RUN_STATES } from '#lib/transitions';
import type { Invariant, Violation } from './invariant.js';

const LIVE = `IN (${LIVE_RUN_STATES.map((state) => `'${state}'`).join(', ')})`;

/**
 * A task has at most one live run and names it. Its runs are numbered without gaps and repetitions.
 * In the order of its versions no entry of an older run follows one of a newer. No entry of a run
 * was accepted once the next had started, with a second of grace, because an entry has the time at
 * which its transaction started.
 *
 * Reads all runs (task_runs_task_idx) and all entries that name a run.
 */
export const oneLiveRun: Invariant = {
  name: 'one_live_run',
  title: 'A task has at most one live run, and nothing of an older run was accepted',
  sql: query<Violation>(
    'invariant_one_live_run',
    `
WITH run AS MATERIALIZED (
  SELECT r.workspace_id, r.id, r.task_id, r.generation, r.state, r.assigned_at, r.ended_at,
    lead(r.assigned_at) OVER w AS next_assigned_at
  FROM task_runs r
  WINDOW w AS (PARTITION BY r.workspace_id, r.task_id ORDER BY r.generation)
),
counted AS (
  SELECT workspace_id, task_id, count(*) AS runs, max(generation) AS latest,
    count(DISTINCT generation) AS generations,
    count(*) FILTER (WHERE state ${LIVE}) AS live,
    (array_agg(id) FILTER (WHERE state ${LIVE}))[1] AS live_run
  FROM run GROUP BY 1, 2
),
moved AS (
  SELECT l.task_id, l.version, r.generation, max(r.generation) OVER w AS newest_before
  FROM journal l JOIN run r ON r.workspace_id = l.workspace_id AND r.id = l.run_id
  WHERE l.task_id IS NOT NULL AND l.version IS NOT NULL
  WINDOW w AS (PARTITION BY l.workspace_id, l.task_id ORDER BY l.version
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT 'task ' || t.id AS subject, problem
FROM agent_tasks t
LEFT JOIN counted c ON c.workspace_id = t.workspace_id AND c.task_id = t.id
CROSS JOIN LATERAL (VALUES
  (c.live > 1, 'has ' || c.live || ' live runs'),
  (coalesce(c.latest, 0) <> coalesce(c.runs, 0),
    'has ' || c.runs || ' runs, and the latest is number ' || c.latest),
  (c.generations <> c.runs, 'has ' || c.runs || ' runs of ' || c.generations || ' generations'),
  (t.generation <> coalesce(c.latest, 0),
    'says ' || t.generation || ' of its generation, and its latest run ' || coalesce(c.latest, 0)),
  (t.run_id IS DISTINCT FROM c.live_run AND coalesce(c.live, 0) < 2,
    'names the run ' || coalesce(t.run_id::text, 'none') || ', and its live one is '
      || coalesce(c.live_run::text, 'none'))
) AS found (wrong, problem)
WHERE found.wrong
UNION ALL
SELECT 'task ' || m.task_id, 'version ' || m.version || ' was moved by run ' || m.generation
  || ' after run ' || m.newest_before
FROM moved m WHERE m.generation < m.newest_before
UNION ALL
SELECT 'run ' || r.id, 'an entry (' || l.event || ') was accepted after the next run had begun'
FROM agent_task_logs l JOIN run r ON r.workspace_id = l.workspace_id AND r.id = l.run_id
WHERE l.actor_kind IN ('agent', 'run') AND l.created_at > r.next_assigned_at + interval '1 second'
ORDER BY 1
LIMIT $1`,
  ),
};
