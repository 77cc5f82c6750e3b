import { command, query } from '#lib/database';
import type { ColumnOfTask, Original } from '#lib/secrets';
import { isOver } from '#lib/transitions';

/** A task with everything that the task that continues it takes over. */
export interface ContinuedRow {
  is_over: boolean;
  title: string;
  description: string | null;
  task_type: string;
  priority: number;
  agent: Record<string, unknown> | null;
  input_context: Record<string, unknown>;
  metadata: Record<string, unknown>;
  secrets: Record<string, unknown>;
  required_capabilities: string[];
  tags: string[];
  project_id: string | null;
  milestone_id: string | null;
  repository_id: string | null;
  acceptance_script: string | null;
  max_retries: number;
  retry_backoff_seconds: number;
  timeout_seconds: number | null;
  concurrency_key: string | null;
  concurrency_limit: number | null;
  checkpoint_data: Record<string, unknown>;
  originals: Original<ColumnOfTask>[] | null;
}

/** Index: primary keys. $1 workspace, $2 task. */
export const continuedTask = query<ContinuedRow>(
  'continued_task',
  `
SELECT (${isOver('t')} OR t.status = 'ARCHIVED') AS is_over, t.title, t.description, t.task_type, t.priority,
  t.agent, t.input_context, t.metadata, t.secrets, t.required_capabilities, t.project_id, t.milestone_id, t.repository_id,
  t.acceptance_script,
  t.max_retries, t.retry_backoff_seconds, t.timeout_seconds, t.concurrency_key, t.concurrency_limit,
  t.checkpoint_data,
  ARRAY(SELECT g.tag FROM agent_task_tags g WHERE g.workspace_id = $1 AND g.task_id = t.id) AS tags,
  (SELECT jsonb_agg(to_jsonb(s)) FROM task_secrets s
    WHERE s.workspace_id = $1 AND s.task_id = t.id) AS originals
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2`,
);

/**
 * Links a new task to the one that it continues, and gives it the checkpoint.
 *
 * In the transaction that creates it. Index: primary key. $1 workspace, $2 task, $3 the task that it
 * continues, $4 checkpoint.
 */
export const linkContinuation = command<{ id: string }>(
  'link_continuation',
  `
UPDATE agent_tasks SET continues_id = $3, checkpoint_data = $4::jsonb
WHERE workspace_id = $1 AND id = $2 RETURNING id`,
);
