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
 * The facts of several agents, of any workspace.
 *
 * Once for each agent that a server hears of for the first time, gathered over one turn of the event loop.
 * Index: agents_id_key. $1 agents.
 */
export const agentFacts = query<AgentFactsRow>(
  'agent_facts',
  `
SELECT workspace_id, id, lifecycle, heartbeat_interval_seconds, stale_threshold_seconds
FROM agents WHERE id = ANY($1::uuid[])`,
);
