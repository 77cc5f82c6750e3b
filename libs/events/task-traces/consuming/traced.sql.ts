import { query } from '#lib/database';

/** An ended part of a task's life: its wait for an agent, a run, or the whole. */
export interface OverPart {
  kind: 'wait' | 'run' | 'task';
  workspace_id: string;
  task_id: string;
  run_id: string | null;
  /** Time of the report, as in RFC 3339. */
  at: string;
}

export interface TracedRow {
  kind: OverPart['kind'];
  workspace_id: string;
  task_id: string;
  traceparent: string;
  task_type: string;
  status: string;
  failure_reason: string | null;
  abort_reason: string | null;
  run_id: string | null;
  agent_id: string | null;
  generation: number | null;
  state: string | null;
  end_reason: string | null;
  /** Milliseconds since the epoch. */
  began_at: number;
  ended_at: number;
}

/**
 * The ended parts of traced tasks with their times. A task that has returned to the queue meanwhile
 * no longer knows when its wait began, but the journal does.
 *
 * As the service role. Indexes: primary keys of agent_tasks and task_runs, journal_task_idx. $1
 * JSON array of OverPart.
 */
export const readParts = query<TracedRow>(
  'traces_read_parts',
  `
SELECT * FROM (
  SELECT p.kind, p.workspace_id, p.task_id, t.traceparent, t.task_type, t.status, t.failure_reason, t.abort_reason,
    r.id AS run_id, r.agent_id, r.generation, r.state, r.end_reason,
    extract(epoch FROM CASE p.kind WHEN 'task' THEN t.created_at WHEN 'run' THEN r.assigned_at
      ELSE CASE WHEN t.ready_at <= r.assigned_at THEN t.ready_at ELSE (
        SELECT max(j.created_at) FROM journal j WHERE j.workspace_id = t.workspace_id AND j.task_id = t.id
          AND j.new_status = 'PENDING' AND j.created_at <= r.assigned_at) END
      END)::float8 * 1000 AS began_at,
    extract(epoch FROM CASE p.kind WHEN 'task' THEN p.at WHEN 'run' THEN r.ended_at ELSE r.assigned_at END)::float8 * 1000
      AS ended_at
  FROM jsonb_to_recordset($1::jsonb) AS p (kind text, workspace_id uuid, task_id uuid, run_id uuid, at timestamptz)
  JOIN agent_tasks t ON t.workspace_id = p.workspace_id AND t.id = p.task_id AND t.traceparent IS NOT NULL
  LEFT JOIN task_runs r ON r.workspace_id = p.workspace_id AND r.id = p.run_id) over
WHERE began_at <= ended_at`,
);
