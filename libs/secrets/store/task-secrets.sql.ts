import { command, query, type Step } from '#lib/database';
import type { ColumnOfTask, Original, SecretColumn } from '../domain/originals.js';

/** A column that is written, with its original; without a key it holds no secret any more. */
export type SecretsInput = ColumnOfTask & Partial<Pick<Original, 'key_id' | 'sealed'>>;

/**
 * Writes originals, or removes them, of tasks that the same transaction has written before: a report of
 * a run that is its task's no more writes neither.
 *
 * Behind the statement that writes the columns. Indexes: primary keys.
 * $1 workspace, $2 JSON array of SecretsInput.
 */
const writeTaskSecrets = command<unknown>(
  'write_task_secrets',
  `
WITH input AS MATERIALIZED (
  SELECT x.* FROM jsonb_to_recordset($2::jsonb) AS x (task_id uuid, column_name text, key_id uuid, sealed jsonb)
  JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = x.task_id
  WHERE t.xmin = pg_current_xact_id()::xid
),
removed AS (
  DELETE FROM task_secrets s USING input i
  WHERE s.workspace_id = $1 AND s.task_id = i.task_id AND s.column_name = i.column_name AND i.key_id IS NULL
)
INSERT INTO task_secrets (workspace_id, task_id, column_name, key_id, sealed)
SELECT $1, i.task_id, i.column_name, i.key_id, i.sealed FROM input i WHERE i.key_id IS NOT NULL
ON CONFLICT (workspace_id, task_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, unreadable_at = NULL`,
);

/** The steps of a pipeline that write originals: one, or none when there are none. */
export function writeSecrets(workspaceId: string, originals: readonly SecretsInput[]): Step[] {
  if (originals.length === 0) return [];
  return [[writeTaskSecrets, [workspaceId, JSON.stringify(originals)]]];
}

/** The columns of a task, and the originals of those that held secrets. */
export type TaskDocuments = { id: string; originals: Original[] | null } & {
  [Column in SecretColumn]: unknown;
};

/**
 * Indexes: primary keys. $1 workspace, $2 tasks. Columns and originals are of one moment.
 */
export const taskDocuments = query<TaskDocuments>(
  'task_documents',
  `
SELECT t.id, t.input_context, t.checkpoint_data, t.output_result, t.metadata, (
  SELECT jsonb_agg(to_jsonb(s)) FROM task_secrets s WHERE s.workspace_id = $1 AND s.task_id = t.id) AS originals
FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = ANY ($2::uuid[])`,
);

/** The task of a run, and the originals of its columns that held secrets. */
export interface SecretsOfRun {
  run_id: string;
  task_id: string;
  originals: Original[] | null;
}

/** Indexes: primary keys. $1 workspace, $2 runs. */
export const secretsOfRuns = query<SecretsOfRun>(
  'secrets_of_runs',
  `
SELECT r.id AS run_id, r.task_id, (
  SELECT jsonb_agg(to_jsonb(s)) FROM task_secrets s WHERE s.workspace_id = $1 AND s.task_id = r.task_id) AS originals
FROM task_runs r WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[])`,
);
