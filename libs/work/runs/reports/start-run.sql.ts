import { hotCommand } from '#lib/database';
import {
  asFilter,
  journaled,
  runMayGo,
  runTransition,
  taskTransition,
  isInUse,
} from '#lib/transitions';

/**
 * Starts the work: the task becomes RUNNING, the run WORKING. A paused task is not started: only
 * its user can resume it. A run is left out if it is not the live one of its task, or belongs to
 * another agent. It needs no lock itself, since it changes only under its task's lock.
 *
 * Indexes: primary keys. $1 workspace, $2 run, $3 agent, $4 actor kind, $5 actor id, $6 session key
 * or NULL, $7 branch or NULL.
 */
export const startRun = hotCommand<{ task_id: string; version: number }>(
  'start_run',
  `
WITH held AS MATERIALIZED (
  SELECT t.id AS task_id, r.id AS run_id
  FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND t.run_id = r.id
    AND ${asFilter(`t.status = 'ASSIGNED'`)} AND ${runMayGo('r.state', 'WORKING')}
      AND ${isInUse('$1')}
  FOR NO KEY UPDATE OF t
),
${taskTransition('RUNNING', 'held', {
  workspace_id: '$1',
  task_id: 'm.task_id',
  actor_kind: '$4',
  actor_id: '$5',
  session_key: '$6',
})},
${runTransition('WORKING', 'task_moved', {
  workspace_id: '$1',
  run_id: 'm.run_id',
  session_key: '$6',
  branch: '$7',
})},
${journaled('both')}
SELECT id AS task_id, version FROM task_moved`,
);
