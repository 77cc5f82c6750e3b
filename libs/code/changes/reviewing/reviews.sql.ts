import { command } from '#lib/database';

/** The forge gets a comment soon. Index: primary key. $1 workspace, $2 change. */
export const hastenSync = command<{ task_id: string }>(
  'hasten_sync',
  `
UPDATE changes c SET step_due_at = now()
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step = 'sync' AND c.step_agent_id IS NULL
RETURNING c.task_id`,
);

/**
 * Makes the step of a change due now, unless a host has it. A removal that nobody has tried can wait
 * for the lease of the host that was merging. Under the task's lock. Index: primary key.
 * $1 workspace, $2 change.
 */
export const retryStep = command<{ task_id: string }>(
  'retry_step',
  `
UPDATE changes c SET step_attempts = 0, step_waits_since = NULL, step_overdue = false,
  obstacle = NULL, updated_at = now(), version = c.version + 1,
  step_due_at = CASE WHEN c.step = 'remove' AND c.step_attempts = 0 AND c.step_waits_since IS NULL
    THEN c.step_due_at ELSE now() END
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step_agent_id IS NULL
RETURNING c.task_id`,
);
