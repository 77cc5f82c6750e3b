import { command } from '#lib/database';
import { announced } from './events.sql.js';
import { heldRuns } from './held-runs.sql.js';
import { runDoor, runMayGo } from './run-door.sql.js';
import { taskDoor } from './task-door.sql.js';

/**
 * The holder says that the work has begun: task RUNNING, run WORKING. A paused task it does not start:
 * only its user can let that go on.
 *
 * Caller: RunReports.start. Indexes: primary keys.
 * $1 workspace, $2 runs, $3 agent, $4 actor kind, $5 actor id, $6 session key or NULL, $7 branch or NULL.
 */
export const startRuns = command<{ task_id: string; version: number }>(
  'start_runs',
  `
WITH ${heldRuns(`t.status = 'ASSIGNED' AND ${runMayGo('r.state', 'WORKING')}`)},
${taskDoor('RUNNING', 'held', {
  workspace_id: '$1',
  task_id: 'm.task_id',
  actor_kind: '$4',
  actor_id: '$5',
  session_key: '$6',
})},
${runDoor('WORKING', 'held', {
  workspace_id: '$1',
  run_id: 'm.run_id',
  session_key: '$6',
  branch: '$7',
})},
${announced('both')}
SELECT id AS task_id, version FROM task_moved`,
);
