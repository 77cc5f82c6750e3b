import { query } from '#lib/database';
import type { SealedRow } from '../domain/sealed-columns.js';

export interface SecretsRow extends Required<SealedRow> {
  run_id: string;
}

/**
 * Those of the runs whose tasks may hold secrets, with all columns of the task that may.
 *
 * Caller: RunSecrets. Indexes: primary keys. $1 workspace, $2 runs.
 */
export const tasksWithSecrets = query<SecretsRow>(
  'tasks_with_secrets',
  `
SELECT r.id AS run_id, t.workspace_id, t.id, t.input_context, t.checkpoint_data, t.output_result, t.metadata
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = ANY ($2::uuid[])
  AND EXISTS (SELECT FROM task_seals s WHERE s.workspace_id = $1 AND s.task_id = r.task_id)`,
);
