import { query } from '#lib/database';
import type { AgentLifecycle } from '#lib/transitions';

/** The facts of an agent that a heartbeat needs. */
export interface AgentFactsRow {
  workspace_id: string;
  id: string;
  lifecycle: AgentLifecycle;
  heartbeat_interval_seconds: number;
  stale_threshold_seconds: number;
}

/**
 * The facts of several agents of any workspace.
 *
 * Once for each agent that is new to a server, collected over one turn of the event loop. Index:
 * primary key. $1 workspaces, $2 agents, as two arrays of the same length.
 */
export const agentFacts = query<AgentFactsRow>(
  'agent_facts',
  `
SELECT a.workspace_id, a.id, a.lifecycle, a.heartbeat_interval_seconds, a.stale_threshold_seconds
FROM unnest($1::uuid[], $2::uuid[]) AS asked (workspace_id, id)
JOIN agents a ON a.workspace_id = asked.workspace_id AND a.id = asked.id`,
);
