import { query } from '#lib/database';

/** A report of a task, or nothing but nulls for a task without further reports. */
export interface TaskReportRow {
  /** The asked run exists, or none was asked. */
  has_run: boolean;
  id: string | null;
  run_id: string;
  agent_id: string;
  model: string;
  operation: string | null;
  input_tokens: string;
  output_tokens: string;
  cache_read_tokens: string;
  cache_write_tokens: string;
  total_tokens: string;
  reasoning_tokens: string;
  cost_usd: string | null;
  reported_cost_usd: string | null;
  time_to_first_token_ms: number | null;
  estimated: boolean;
  logged_at: Date;
  /** Microseconds since 1970, as text. */
  logged_us: string;
  seq: string;
}

/**
 * A page of the reports of a task, the latest first. No row if the task does not exist.
 *
 * Index: agent_usage_logs_task_idx, backwards. Of 10,000 reports of a task, a page takes 0.2 ms, and
 * the ten of its first run 7 ms. $1 workspace, $2 task, $3 run or NULL, $4 and $5 microseconds
 * and number of the last report of the previous page, or NULL, $6 maximum number of rows.
 */
export const usageOfTask = query<TaskReportRow>(
  'usage_of_task',
  `
SELECT $3::uuid IS NULL OR r.id IS NOT NULL AS has_run, l.*
FROM agent_tasks t
LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = $3::uuid
LEFT JOIN LATERAL (
  SELECT u.id, u.run_id, u.agent_id, u.model, u.operation, u.input_tokens, u.output_tokens,
    u.cache_read_tokens, u.cache_write_tokens, u.total_tokens, u.reasoning_tokens,
    trim_scale(u.cost_usd)::text AS cost_usd,
    trim_scale(u.reported_cost_usd)::text AS reported_cost_usd, u.time_to_first_token_ms,
    u.estimated, u.logged_at,
    (extract(epoch FROM u.logged_at) * 1000000)::bigint::text AS logged_us, u.seq::text AS seq
  FROM agent_usage_logs u
  WHERE u.workspace_id = t.workspace_id AND u.task_id = t.id
    AND ($3::uuid IS NULL OR u.run_id = $3)
    AND ($4::bigint IS NULL OR (u.logged_at, u.seq)
      < ('epoch'::timestamptz + $4::bigint * interval '1 microsecond', $5::bigint))
  ORDER BY u.logged_at DESC, u.seq DESC
  LIMIT $6) l ON true
WHERE t.workspace_id = $1 AND t.id = $2
ORDER BY l.logged_at DESC, l.seq::bigint DESC`,
);
