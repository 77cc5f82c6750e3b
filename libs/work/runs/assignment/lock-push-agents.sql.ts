import { query } from '#lib/database';
import { isInFleet, serves } from '#lib/transitions';
import { pausedTypes } from '#lib/admission';
import { availableBudgets } from '#lib/budgets';
import {
  hasRoom,
  mayBeHandedOut,
  mayBeHandedOutFreely,
  OFFER,
  type Offer,
  takesWork,
  workspaceHandsOut,
} from '../store/hand-out.sql.js';

export interface PushAgentRow extends Offer {
  workspace_id: string;
  id: string;
  live_runs: number;
  max_concurrent_tasks: number;
  /** The number of runs held by all push agents of the workspace. */
  workspace_runs: number;
}

const OFFERED = OFFER.join(', ');

/**
 * SQL: tasks `t` of a queue `q` that can be handed out. `w` has the paused types and the budgets of
 * its workspace.
 */
function readyIn(q: string, w: string): string {
  const scope = {
    workspace: `${q}.workspace_id`,
    pausedTypes: `${w}.paused`,
    budgets: `${w}.budgets`,
  };
  return `t.workspace_id = ${q}.workspace_id AND t.capability_key = ${q}.key
    AND ${mayBeHandedOut('t', scope)}`;
}

/**
 * Push agents with room that could take a ready task, locked. If there are more than $1, each
 * workspace gives its least busy agent first, then its second. So a workspace with many agents
 * leaves room for the others. Agents that can take nothing are left out, or they would hide the
 * rest forever. Locked agents are skipped and take part in the next cycle.
 *
 * As the service role, in a fenced transaction. Indexes: agents_push_idx (all push agents are
 * read), capability_sets (primary key) of each workspace with a free agent, agent_tasks_queue_idx
 * once for each set that an agent serves. The holds of a workspace are read only if such a set has a
 * task. $1 rows at most.
 *
 * Measured with 1,000 push agents of 50 kinds in 10 workspaces, 30 sets each, and 100,000 ready
 * tasks: 12 ms. With 1,000 of them in 1,000 workspaces without a task for them: 4 ms.
 */
export const lockPushAgents = query<PushAgentRow>(
  'lock_push_agents',
  `
WITH push AS MATERIALIZED (
  SELECT a.workspace_id, a.id, a.live_runs, ${OFFERED},
    ${hasRoom('a')} AND ${takesWork('a')} AS free,
    (sum(a.live_runs) OVER (PARTITION BY a.workspace_id))::int AS workspace_runs
  FROM agents a WHERE a.mode = 'push' AND ${isInFleet('a')}
),
kind AS MATERIALIZED (
  SELECT DISTINCT workspace_id, ${OFFERED} FROM push WHERE free
),
filled AS MATERIALIZED (
  SELECT q.* FROM (
    SELECT c.workspace_id, c.key, c.capabilities
    FROM (SELECT DISTINCT workspace_id FROM kind) d
    JOIN capability_sets c ON c.workspace_id = d.workspace_id
    WHERE EXISTS (SELECT FROM kind k WHERE k.workspace_id = c.workspace_id
      AND ${serves('k', 'c.capabilities')}) OFFSET 0) q
  WHERE EXISTS (SELECT FROM agent_tasks t WHERE t.workspace_id = q.workspace_id
    AND t.capability_key = q.key AND ${mayBeHandedOutFreely('t')})
),
waiting AS MATERIALIZED (
  SELECT c.*, w.paused, w.budgets
  FROM (SELECT d.workspace_id, ${pausedTypes('d.workspace_id')} AS paused, ${availableBudgets('d.workspace_id')} AS budgets
    FROM (SELECT DISTINCT workspace_id FROM filled) d
    WHERE ${workspaceHandsOut('d.workspace_id')} OFFSET 0) w
  JOIN filled c ON c.workspace_id = w.workspace_id
  WHERE EXISTS (SELECT FROM agent_tasks t WHERE ${readyIn('c', 'w')})
),
able AS MATERIALIZED (
  SELECT k.*
  FROM kind k
  WHERE EXISTS (SELECT FROM waiting q WHERE q.workspace_id = k.workspace_id
    AND ${serves('k', 'q.capabilities')}
    AND (k.task_types = '{}' OR EXISTS (
      SELECT FROM agent_tasks t WHERE ${readyIn('q', 'q')} AND t.task_type = ANY(k.task_types))))
),
picked AS MATERIALIZED (
  SELECT p.workspace_id, p.id, p.workspace_runs
  FROM (SELECT p.*, row_number() OVER (PARTITION BY workspace_id ORDER BY live_runs, id) AS turn
    FROM push p JOIN able USING (workspace_id, ${OFFERED}) WHERE free) p
  ORDER BY p.turn, p.workspace_runs
  LIMIT $1
)
SELECT a.workspace_id, a.id, ${OFFER.map((column) => `a.${column}`).join(', ')}, a.live_runs,
  a.max_concurrent_tasks, p.workspace_runs
FROM picked p JOIN agents a ON a.workspace_id = p.workspace_id AND a.id = p.id
WHERE ${hasRoom('a')} AND ${takesWork('a')}
ORDER BY a.id
FOR NO KEY UPDATE OF a SKIP LOCKED`,
);
