import { command } from '#lib/database';

/** Index: primary key. $1 workspace, $2 runs, $3 the model of each. */
export const noteModels = command<never>(
  'note_models',
  `
UPDATE task_runs r SET model = c.model
FROM unnest($2::uuid[], $3::text[]) AS c (run_id, model)
WHERE r.workspace_id = $1 AND r.id = c.run_id`,
);
