import { command } from '#lib/database';

/**
 * Removes calibrations that were not renewed for $1 days, $2 rows at once. Calibration renews each
 * kind with enough recent tasks, and waits here for the lock of its row: the condition is asked
 * again then, or the kind gets a new row.
 *
 * As the service role. Without an index, because it reads once in ten minutes: measured with 100,000
 * calibrations on two busy cores, 55 ms without an old one, and 100 ms to remove 5,000.
 */
export const pruneOldCalibrations = command<{ task_type: string }>(
  'prune_old_calibrations',
  `
DELETE FROM estimate_calibrations c
USING (
  SELECT workspace_id, scope_id, task_type FROM estimate_calibrations
  WHERE updated_at < now() - make_interval(days => $1::int) LIMIT $2
) old
WHERE c.workspace_id = old.workspace_id AND c.scope_id = old.scope_id AND c.task_type = old.task_type
  AND c.updated_at < now() - make_interval(days => $1::int)
RETURNING c.task_type`,
);
