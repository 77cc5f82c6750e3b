/**
 * A part of a statement that writes sealed values: notes which key they are under, so that the key
 * stays as long as they do, and re-sealing finds them. The key must be there: a server that slept
 * through a rotation seals with one that is gone, and its write is refused.
 *
 * Used by: createSealedTasks, completeSealedRuns, reportSealedProgress, updateSealedTask.
 * Index: primary keys.
 *
 * @param from rows with the task and the key, each an expression; NULL for a task without secrets
 */
export function sealed(workspace: string, from: string, task: string, key: string): string {
  return `
sealed AS (
  INSERT INTO task_seals (workspace_id, task_id, key_id)
  SELECT ${workspace}, ${task}, ${key} FROM ${from} WHERE ${key} IS NOT NULL
  ON CONFLICT DO NOTHING
),`;
}
