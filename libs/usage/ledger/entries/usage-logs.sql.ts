import { command, query } from '#lib/database';

/** A recorded report. Tokens are bigints as text, costs are numerics as text. */
export interface UsageLogRow {
  run_id: string;
  id: string;
  model: string;
  operation: string | null;
  input_tokens: string;
  output_tokens: string;
  cache_read_tokens: string;
  cache_write_tokens: string;
  reported_cost_usd: string | null;
  reasoning_tokens: string;
  time_to_first_token_ms: number | null;
  estimated: boolean;
}

/**
 * Reads the reports that were recorded before, under the locks of their runs.
 * Index: primary key. $1 workspace, $2 runs and $3 reports, pairwise.
 */
export const knownReports = query<UsageLogRow>(
  'known_reports',
  `
SELECT l.run_id, l.id, l.model, l.operation, l.input_tokens, l.output_tokens, l.cache_read_tokens,
  l.cache_write_tokens, trim_scale(l.reported_cost_usd) AS reported_cost_usd, l.reasoning_tokens,
  l.time_to_first_token_ms, l.estimated
FROM unnest($2::uuid[], $3::text[]) AS k (run_id, id)
JOIN agent_usage_logs l ON l.workspace_id = $1 AND l.run_id = k.run_id AND l.id = k.id`,
);

/**
 * Records reports, under the locks of their runs, so that none is recorded twice.
 * $1 workspace, $2 JSON array of the rows.
 */
export const insertUsage = command<never>(
  'insert_usage',
  `
INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, project_id, milestone_id,
  model, operation, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd,
  reported_cost_usd, reasoning_tokens, time_to_first_token_ms, estimated)
SELECT $1, u.run_id, u.id, u.task_id, u.agent_id, u.project_id, u.milestone_id, u.model,
  u.operation, u.input_tokens, u.output_tokens, u.cache_read_tokens, u.cache_write_tokens,
  u.cost_usd, u.reported_cost_usd, u.reasoning_tokens, u.time_to_first_token_ms, u.estimated
FROM jsonb_to_recordset($2::jsonb) AS u (run_id uuid, id text, task_id uuid, agent_id uuid,
  project_id uuid, milestone_id uuid, model text, operation text, input_tokens bigint,
  output_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, cost_usd numeric,
  reported_cost_usd numeric, reasoning_tokens bigint, time_to_first_token_ms int,
  estimated boolean)`,
);
