import { query } from '#lib/database';
import { LIVE_RUN_STATES } from '#lib/transitions';
import type { Invariant, Violation } from '../invariant.js';

const LIVE = LIVE_RUN_STATES.map((state) => `'${state}'`).join(', ');

/**
 * An agent's count of live runs is right, and at no moment did it hold more than it may.
 *
 * The moments are taken from the events of its runs, in the order in which they were written: a claim
 * holds the agent's row when it writes them, so the end that made room for it stands before. (By the
 * times in the runs, which are those of transactions' beginnings, an end and the claim that waited for
 * it can seem to overlap.) Events that have been pruned are not seen; nor is a limit that was higher.
 *
 * Reads all agents, live runs (task_runs_live_agent_idx) and events of runs.
 */
export const boundedConcurrency: Invariant = {
  name: 'bounded_concurrency',
  title: 'No agent ever held more runs than maxConcurrentTasks, and its count of them is right',
  sql: query<Violation>(
    'invariant_bounded_concurrency',
    `
WITH held AS (
  SELECT workspace_id, agent_id, count(*)::int AS runs FROM task_runs
  WHERE state IN (${LIVE}) GROUP BY 1, 2
),
step AS (
  SELECT e.workspace_id, (e.payload ->> 'agentId')::uuid AS agent_id, e.created_at,
    sum(CASE WHEN e.subject_version = 1 THEN 1 WHEN e.payload ->> 'newState' IN (${LIVE}) THEN 0 ELSE -1 END)
      OVER (PARTITION BY e.workspace_id, e.payload ->> 'agentId' ORDER BY e.id) AS runs
  FROM outbox_events e
  WHERE e.type = 'run.state_changed'
),
most AS (
  SELECT DISTINCT ON (workspace_id, agent_id) workspace_id, agent_id, runs, created_at
  FROM step ORDER BY workspace_id, agent_id, runs DESC
)
SELECT 'agent ' || a.id AS subject, problem
FROM agents a
LEFT JOIN held h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
LEFT JOIN most m ON m.workspace_id = a.workspace_id AND m.agent_id = a.id
CROSS JOIN LATERAL (VALUES
  (a.live_runs <> coalesce(h.runs, 0),
    'counts ' || a.live_runs || ' live runs, and has ' || coalesce(h.runs, 0)),
  (coalesce(h.runs, 0) > a.max_concurrent_tasks,
    'holds ' || h.runs || ' runs, and may hold ' || a.max_concurrent_tasks),
  (m.runs > a.max_concurrent_tasks,
    'held ' || m.runs || ' runs at ' || m.created_at || ', and may hold ' || a.max_concurrent_tasks)
) AS found (wrong, problem)
WHERE found.wrong
ORDER BY a.id
LIMIT $1`,
  ),
};
