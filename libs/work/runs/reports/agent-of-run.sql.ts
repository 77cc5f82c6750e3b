import { query } from '#lib/database';

/** The agent that holds or held a run. Index: primary key. $1 workspace, $2 run. */
export const agentOfRun = query<{ agent_id: string }>(
  'agent_of_run',
  `SELECT r.agent_id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2`,
);
