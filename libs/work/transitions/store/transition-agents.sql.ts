import { command, query } from '#lib/database';
import type { AgentLifecycle, AgentStatus } from '../domain/agent-state.js';
import { agentTransition } from './agent-transition.sql.js';

/**
 * Writes decided transitions of agents: one statement for one or a thousand.
 *
 * Index: primary key. $1 JSON array of {workspace_id, id, to_lifecycle, reason}.
 */
export interface TransitionedAgent {
  workspace_id: string;
  id: string;
  version: number;
  previous_lifecycle: AgentLifecycle;
  lifecycle: AgentLifecycle;
  previous_status: AgentStatus;
  status: AgentStatus;
}

export const transitionAgentsSql = command<TransitionedAgent>(
  'transition_agents',
  `
WITH agent_move AS MATERIALIZED (
  SELECT a.workspace_id, a.id, m.to_lifecycle, m.reason
  FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid, to_lifecycle text,
    reason text)
  JOIN agents a ON a.workspace_id = m.workspace_id AND a.id = m.id
  ORDER BY a.id, a.workspace_id
  FOR NO KEY UPDATE OF a
),
${agentTransition('agent_move')}
SELECT workspace_id, id, version, previous_lifecycle, lifecycle, previous_status, status
FROM agent_moved`,
);

/** Index: primary key. $1 workspace, $2 agent. */
export const lifecycleOfAgent = query<{ lifecycle: AgentLifecycle }>(
  'lifecycle_of_agent',
  `SELECT lifecycle FROM agents WHERE workspace_id = $1 AND id = $2`,
);
