import { query } from '#lib/database';
import { isLiveRun } from '#lib/transitions';

/** All workspaces. The table is read whole. */
export const viewedWorkspaces = query<{ id: string }>(
  'views_viewed_workspaces',
  `SELECT id FROM workspaces ORDER BY id`,
);

/**
 * The waiting tasks of a workspace, after one. Index: agent_tasks_status_idx. 1,000 of 10,000 among
 * 200,000 tasks: 0.3 ms. $1 workspace, $2 task or NULL, $3 tasks at most.
 */
export const waitingTasks = query<{ id: string }>(
  'views_waiting_tasks',
  `
SELECT t.id FROM agent_tasks t
WHERE t.workspace_id = $1 AND t.status = 'PENDING' AND ($2::uuid IS NULL OR t.id > $2::uuid)
ORDER BY t.id LIMIT $3`,
);

/**
 * The live runs of a workspace. Index: task_runs_live_agent_idx. 2,000 beside 80,000 ended ones: 0.7
 * ms. $1 workspace.
 */
export const liveRuns = query<{ id: string }>(
  'views_live_runs',
  `SELECT r.id FROM task_runs r WHERE r.workspace_id = $1 AND ${isLiveRun('r')}`,
);

/**
 * The agents of a workspace that are not terminated. Index: primary key. 1,000: 0.5 ms. $1
 * workspace.
 */
export const presentAgents = query<{ id: string }>(
  'views_present_agents',
  `SELECT a.id FROM agents a WHERE a.workspace_id = $1 AND a.lifecycle <> 'TERMINATED'`,
);
