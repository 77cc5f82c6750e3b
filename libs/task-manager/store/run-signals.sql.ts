import { query } from '#lib/database';

/**
 * What an agent should know about the runs that it says it holds: which are not live any more and
 * why, and which are asked to pause. Level-triggered: asking again gives the same answer.
 *
 * Caller: Signals. Index: primary keys. $1 workspace, $2 agent, $3 runs.
 */
export interface SignalRow {
  lifecycle: string;
  run_id: string | null;
  action: 'stop' | 'pause' | null;
  reason: string | null;
}

export const runSignals = query<SignalRow>(
  'run_signals',
  `
SELECT a.lifecycle, held.run_id,
  CASE WHEN held.run_id IS NULL THEN NULL
       WHEN t.run_id IS DISTINCT FROM held.run_id OR r.agent_id IS DISTINCT FROM a.id THEN 'stop'
       WHEN t.status = 'PAUSED' AND r.pause_requested_at IS NOT NULL THEN 'pause' END AS action,
  CASE WHEN t.run_id IS DISTINCT FROM held.run_id THEN coalesce(r.end_reason, 'unknown_run')
       ELSE coalesce(t.pause_reason, 'paused') END AS reason
FROM agents a
LEFT JOIN unnest($3::uuid[]) AS held (run_id) ON true
LEFT JOIN task_runs r ON r.workspace_id = $1 AND r.id = held.run_id AND r.agent_id = a.id
LEFT JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id
WHERE a.workspace_id = $1 AND a.id = $2`,
);
