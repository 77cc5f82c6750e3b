import { command } from '#lib/database';
import { announced } from './events.sql.js';
import { heldRuns } from './held-runs.sql.js';
import { runDoor, runMayGo } from './run-door.sql.js';
import { taskDoor, taskMayGo } from './task-door.sql.js';

/**
 * The holder says that the work is done: task and run COMPLETED.
 *
 * Caller: RunService.complete. Indexes: primary keys.
 * $1 workspace, $2 runs, $3 agent, $4 actor kind, $5 actor id, $6 output result or NULL, $7 summary or NULL.
 */
export const completeRuns = command<{
  task_id: string;
  version: number;
  dependents_unsettled: boolean;
}>(
  'complete_runs',
  `
WITH ${heldRuns(`${taskMayGo('t.status', 'COMPLETED')} AND ${runMayGo('r.state', 'COMPLETED')}`)},
${taskDoor('COMPLETED', 'held', {
  workspace_id: '$1',
  task_id: 'm.task_id',
  actor_kind: '$4',
  actor_id: '$5',
  output_result: '$6',
  summary: '$7',
})},
${runDoor('COMPLETED', 'held', {
  workspace_id: '$1',
  run_id: 'm.run_id',
  end_reason: `'completed'`,
})},
${announced('both')}
SELECT id AS task_id, version, dependents_unsettled FROM task_moved`,
);
