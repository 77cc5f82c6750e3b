import { query } from '#lib/database';
import { LIVE_RUN_STATES } from '#lib/transitions';
import type { Invariant, Violation } from './invariant.js';

const LIVE = LIVE_RUN_STATES.map((state) => `'${state}'`).join(', ');

/**
 * An agent's count of live runs is correct, and at no moment did it hold more than its limit.
 *
 * The moments come from the journal of its runs, in the order in which it was written. A claim
 * locks the agent's row when it writes, so the end that made room for it stands before it. By the
 * times in the runs, which are those of transactions' starts, an end and the next claim can seem to
 * overlap. Runs whose start is no longer stored, and earlier higher limits, are not seen.
 *
 * Reads all agents, live runs (task_runs_live_agent_idx) and the rows of the journal that move a
 * run.
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
  SELECT j.workspace_id, j.agent_id, j.created_at, sum(CASE WHEN j.run_version = 1 THEN 1 ELSE -1 END)
    OVER (PARTITION BY j.workspace_id, j.agent_id ORDER BY j.id) AS runs
  FROM journal j
  WHERE j.run_version = 1 OR j.run_version IS NOT NULL AND j.new_state NOT IN (${LIVE})
    AND EXISTS (SELECT FROM journal b WHERE b.workspace_id = j.workspace_id AND b.run_id = j.run_id AND b.run_version = 1)
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
