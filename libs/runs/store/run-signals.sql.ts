import { query } from '#lib/database';
import { IN_CONFLICT } from './conflicts.sql.js';

/**
 * The signals for an agent about the runs that it says it holds: which are not live any more and
 * why, which are asked to pause, and which seem to hang. Level-triggered: asking again gives the same answer.
 *
 * Index: primary keys. $1 workspace, $2 agent, $3 runs.
 */
export interface SignalRow {
  lifecycle: string;
  run_id: string | null;
  action: 'stop' | 'pause' | 'warn' | null;
  reason: string | null;
  /** Another run of its task has begun, and nobody has noted yet that this one is still held. */
  in_conflict: boolean;
}

export const runSignals = query<SignalRow>(
  'run_signals',
  `
SELECT a.lifecycle, held.run_id,
  CASE WHEN held.run_id IS NULL THEN NULL
       WHEN t.run_id IS DISTINCT FROM held.run_id OR r.agent_id IS DISTINCT FROM a.id THEN 'stop'
       WHEN t.status = 'PAUSED' AND r.pause_requested_at IS NOT NULL THEN 'pause'
       WHEN t.status = 'RUNNING' AND r.hung_warned_at IS NOT NULL THEN 'warn' END AS action,
  CASE WHEN t.run_id IS DISTINCT FROM held.run_id THEN coalesce(r.end_reason, 'unknown_run')
       WHEN t.status = 'PAUSED' THEN coalesce(t.pause_reason, 'paused')
       ELSE 'hung' END AS reason,
  coalesce(${IN_CONFLICT}, false) AS in_conflict
FROM agents a
LEFT JOIN unnest($3::uuid[]) AS held (run_id) ON true
LEFT JOIN task_runs r ON r.workspace_id = $1 AND r.id = held.run_id AND r.agent_id = a.id
LEFT JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id
WHERE a.workspace_id = $1 AND a.id = $2`,
);
