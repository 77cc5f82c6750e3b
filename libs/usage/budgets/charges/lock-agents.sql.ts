import { query } from '#lib/database';

/**
 * Locks the agents of runs that end in the same transaction: after runs, before budgets.
 * Index: primary key. $1 workspace, $2 agents.
 */
export const lockAgentsOfRuns = query<never>(
  'lock_agents_of_runs',
  `
SELECT FROM agents a WHERE a.workspace_id = $1 AND a.id = ANY ($2::uuid[])
ORDER BY a.id FOR NO KEY UPDATE`,
);
