import { command } from '#lib/database';
import { isInUse, journalRow } from '#lib/transitions';

/**
 * Progress and checkpoint of the live run. This is no transition, so neither the version nor the
 * chain of log rows changes. It removes the warning of a run that seemed to hang.
 *
 * Index: primary keys. $1 workspace, $2 run, $3 agent, $4 actor kind, $5 actor id, $6 percent or
 * NULL, $7 step or NULL, $8 checkpoint or NULL, $9 estimated completion or NULL, $10 whether a task
 * that has not begun is left out.
 */
export interface ReportedRow {
  task_id: string;
  progress_percent: number;
  status: string;
}

export const reportProgress = command<ReportedRow>(
  'report_progress',
  `
WITH run AS MATERIALIZED (
  SELECT r.id, r.task_id, r.agent_id FROM task_runs r
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND ${isInUse('$1')}
),
reported AS (
  UPDATE agent_tasks t SET
    progress_percent = coalesce($6::int, t.progress_percent),
    current_step = coalesce($7::text, t.current_step),
    checkpoint_data = coalesce($8::jsonb, t.checkpoint_data),
    estimated_completion_at = coalesce($9::timestamptz, t.estimated_completion_at),
    updated_at = now()
  FROM run
  WHERE t.workspace_id = $1 AND t.id = run.task_id AND t.run_id = run.id
    AND (t.status <> 'ASSIGNED' OR NOT $10::boolean)
  RETURNING t.id, t.status, t.progress_percent, t.current_step, t.session_key
),
heard AS (
  UPDATE task_runs r SET last_report_at = now(), last_progress_at = now(), hung_warned_at = NULL
    FROM reported
  WHERE r.workspace_id = $1 AND r.id = $2
),
journaled AS (
  ${journalRow(
    {
      workspace_id: '$1',
      event: "'task.progress'",
      log_event: "CASE WHEN $8::jsonb IS NULL THEN 'progress_update' ELSE 'checkpoint' END",
      task_id: 'p.id',
      run_id: '$2',
      agent_id: '$3',
      level: "'DEBUG'",
      message: 'p.current_step',
      details: "jsonb_build_object('progressPercent', p.progress_percent)",
      actor_kind: '$4',
      actor_id: '$5',
      session_key: 'p.session_key',
    },
    'reported p',
  )}
)
SELECT id AS task_id, progress_percent, status FROM reported`,
);
