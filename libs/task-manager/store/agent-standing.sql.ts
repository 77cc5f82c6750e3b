import { query } from '#lib/database';

/**
 * Whether an agent may claim: why a claim found nothing.
 *
 * Caller: Claiming, once for each claim that came back empty. Index: primary key.
 * $1 workspace, $2 agent.
 */
export const agentStanding = query<{ lifecycle: string; room: number }>(
  'agent_standing',
  `
SELECT lifecycle, max_concurrent_tasks - live_runs AS room FROM agents
WHERE workspace_id = $1 AND id = $2`,
);
