import { command } from '#lib/database';
import { journalRow } from '#lib/transitions';
import { CHANGE_FIELDS } from '../store/change-transition.sql.js';

/** The journal row of a comment. Index: primary keys. $1 workspace, $2 review, $3 and $4 actor. */
export const noteComment = command<{ id: string }>(
  'note_comment',
  `
WITH c AS (
  SELECT c.*, v.id, v.body FROM change_reviews v
  JOIN changes c ON c.workspace_id = $1 AND c.task_id = v.task_id
  WHERE v.workspace_id = $1 AND v.id = $2
),
journaled AS (
  ${journalRow(
    {
      workspace_id: 'c.workspace_id',
      event: "'change.commented'",
      task_id: 'c.task_id',
      run_id: 'c.run_id',
      message: `left(c.body, 500)`,
      details: `jsonb_build_object('reviewId', c.id, 'state', c.state, ${CHANGE_FIELDS})`,
      actor_kind: '$3',
      actor_id: '$4',
    },
    'c',
  )}
)
SELECT id FROM c`,
);

/**
 * Makes the step of a change due now, unless a host has it. Under the task's lock. Index: primary
 * key. $1 workspace, $2 change.
 */
export const retryStep = command<{ task_id: string }>(
  'retry_step',
  `
UPDATE changes c SET step_due_at = now(), step_attempts = 0, obstacle = NULL, updated_at = now(),
  version = c.version + 1
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step_agent_id IS NULL
RETURNING c.task_id`,
);
