import { isNearlyOutOfBudget } from '#lib/budgets';
import { query } from '#lib/database';
import { hasDeadline, isLiveRun } from '#lib/transitions';
import { IN_CONFLICT } from '../store/conflicts.sql.js';

/** An agent that names no runs hears for this long about runs that were taken from it. */
const REPORTED_FOR = `interval '60 seconds'`;

/**
 * The signals for an agent about its runs: runs that are no longer live and why, runs past their
 * deadline, runs to pause, runs that seem to hang, and runs whose budget is nearly used up.
 * Level-triggered: the same question gets the same answer.
 *
 * Indexes: primary keys, usage_budgets_reached_idx; task_runs_live_agent_idx and
 * task_runs_taken_idx for an agent that asks for all. $1 workspace, $2 agent, $3 runs that it names, $4 true if it asks for all that it holds.
 */
export interface SignalRow {
  lifecycle: string;
  run_id: string | null;
  action: 'stop' | 'pause' | 'warn' | null;
  reason: string | null;
  /** A pause waits for the end of the turn. */
  after_turn: boolean;
  /** Another run of its task has begun, and this conflict is not recorded yet. */
  in_conflict: boolean;
  /** Milliseconds until its deadline. */
  time_left_ms: number | null;
}

const TIME_IS_OVER = `(r.deadline_at <= now() AND ${hasDeadline('r')})`;

export const runSignals = query<SignalRow>(
  'run_signals',
  `
WITH held AS MATERIALIZED (
  SELECT unnest($3::uuid[]) AS run_id
  UNION SELECT r.id FROM task_runs r
  WHERE $4::boolean AND r.workspace_id = $1 AND r.agent_id = $2 AND ${isLiveRun('r')}
  UNION SELECT r.id FROM task_runs r
  WHERE $4::boolean AND r.workspace_id = $1 AND r.agent_id = $2 AND r.ended_by <> 'agent'
    AND r.ended_at > now() - ${REPORTED_FOR}
)
SELECT a.lifecycle, held.run_id,
  CASE WHEN held.run_id IS NULL THEN NULL
       WHEN t.run_id IS DISTINCT FROM held.run_id OR r.agent_id IS DISTINCT FROM a.id THEN 'stop'
       WHEN ${TIME_IS_OVER} THEN 'stop'
       WHEN t.status = 'PAUSED' AND r.pause_requested_at IS NOT NULL THEN 'pause'
       WHEN t.status = 'RUNNING'
         AND (r.hung_warned_at IS NOT NULL OR ${isNearlyOutOfBudget('t')}) THEN 'warn' END AS action,
  CASE WHEN t.run_id IS DISTINCT FROM held.run_id THEN coalesce(r.end_reason, 'unknown_run')
       WHEN ${TIME_IS_OVER} THEN 'timeout'
       WHEN t.status = 'PAUSED' THEN coalesce(t.pause_reason, 'paused')
       WHEN r.hung_warned_at IS NOT NULL THEN 'hung'
       ELSE 'budget' END AS reason,
  coalesce(r.pause_after_turn, false) AS after_turn,
  coalesce(${IN_CONFLICT}, false) AS in_conflict,
  (extract(epoch FROM r.deadline_at - now()) * 1000)::float8 AS time_left_ms
FROM agents a
LEFT JOIN held ON true
LEFT JOIN task_runs r ON r.workspace_id = $1 AND r.id = held.run_id AND r.agent_id = a.id
LEFT JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id
WHERE a.workspace_id = $1 AND a.id = $2`,
);
