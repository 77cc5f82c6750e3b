import { command } from '#lib/database';
import { isOverdue, type RunState, type TaskStatus, isInUse } from '#lib/transitions';
import { IN_CONFLICT } from '../store/conflicts.sql.js';

/**
 * The state of a run and its task: why a report was refused, or whether it was accepted before. A
 * report about a superseded run is noted for the coordinator.
 *
 * After a report changed nothing. Index: primary keys. $1 workspace, $2 run, $3 agent.
 */
export interface RunSituation {
  task_id: string;
  run_state: RunState;
  /** Also `workspace_archived` and `timeout` while the run is still to be ended for it. */
  end_reason: string | null;
  /** The run was overdue, and the first caller to say so ended it. */
  ended_past_deadline: boolean;
  task_status: TaskStatus;
  task_version: number;
  is_live: boolean;
  /** The run ends with the submission of a change. */
  has_change: boolean;
  /** The host of the run proves its work before it completes it. */
  has_acceptance: boolean;
}

export const runSituation = command<RunSituation>(
  'run_situation',
  `
WITH noted AS (
  UPDATE task_runs r SET conflict_seen_at = now() FROM agent_tasks t
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
    AND t.workspace_id = $1 AND t.id = r.task_id AND ${IN_CONFLICT}
)
SELECT r.task_id, r.state AS run_state,
  coalesce(r.end_reason, CASE WHEN NOT ${isInUse('$1')} THEN 'workspace_archived'
    WHEN ${isOverdue('r')} THEN 'timeout' END) AS end_reason,
  coalesce(r.end_reason = 'timeout' AND r.ended_at >= r.deadline_at, false) AS ended_past_deadline,
    t.status AS task_status, t.version AS task_version,
  t.run_id IS NOT DISTINCT FROM r.id AND ${isInUse('$1')}
    AND ${isOverdue('r')} IS NOT TRUE AS is_live,
  t.repository_id IS NOT NULL AS has_change,
  t.acceptance_script IS NOT NULL AS has_acceptance
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3`,
);
