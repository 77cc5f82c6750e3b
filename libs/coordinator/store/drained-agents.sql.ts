import { query } from '#lib/database';

/**
 * Draining agents that hold nothing any more.
 * Caller: TaskRecovery.terminateDrained, as the service role. A scan of agents: few rows.
 * $1 rows at most, $2 workspace or NULL.
 */
export const drainedAgents = query<{ workspace_id: string; id: string }>(
  'drained_agents',
  `
SELECT workspace_id, id FROM agents
WHERE lifecycle = 'DRAINING' AND live_runs = 0 AND ($2::uuid IS NULL OR workspace_id = $2)
ORDER BY id
LIMIT $1
FOR NO KEY UPDATE SKIP LOCKED`,
);
