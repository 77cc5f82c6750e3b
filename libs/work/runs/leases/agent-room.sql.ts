import { query } from '#lib/database';

/**
 * The state of an agent, and how many more tasks it may hold.
 *
 * Index: primary key.
 * $1 workspace, $2 agent.
 */
export const agentRoom = query<{ lifecycle: string; room: number }>(
  'agent_room',
  `
SELECT lifecycle, max_concurrent_tasks - live_runs AS room FROM agents
WHERE workspace_id = $1 AND id = $2`,
);
