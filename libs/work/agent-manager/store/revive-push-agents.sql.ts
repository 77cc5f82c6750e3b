import { command } from '#lib/database';
import { agentTransition, type TransitionedAgent } from '#lib/transitions';

/**
 * Push agents that were declared dead with their gateway return with it. A draining one continues
 * to drain. Agents that still hold runs wait until these are recovered.
 *
 * As the service role. Index: agents_push_idx. $1 maximum number of rows.
 */
export const revivePushAgents = command<TransitionedAgent>(
  'revive_push_agents',
  `
WITH back AS MATERIALIZED (
  SELECT a.workspace_id, a.id, 'gateway_back' AS reason,
    CASE WHEN a.draining_at IS NULL THEN 'ACTIVE' ELSE 'DRAINING' END AS to_lifecycle
  FROM agents a
  WHERE a.mode = 'push' AND a.lifecycle = 'ERROR' AND a.live_runs = 0
  ORDER BY a.id
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
${agentTransition('back')}
SELECT workspace_id, id, version, previous_lifecycle, lifecycle, previous_status, status
FROM agent_moved`,
);
