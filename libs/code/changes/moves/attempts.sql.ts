import { command, query } from '#lib/database';
import type { ChangeState } from '../domain/change-state.js';

/**
 * The other attempts at a change. Nothing changes the group of a change. Index:
 * changes_attempts_idx. $1 workspace, $2 change.
 */
export const idsOfOtherAttempts = query<{ task_id: string }>(
  'ids_of_other_attempts',
  `
SELECT o.task_id FROM changes c
JOIN changes o ON o.workspace_id = $1 AND o.attempts_id = c.attempts_id
WHERE c.workspace_id = $1 AND c.task_id = $2 AND o.task_id <> $2`,
);

export interface OtherAttempt {
  task_id: string;
  state: ChangeState;
  /** It is approved or merged. */
  is_chosen: boolean;
  /** It can be on its target although it is closed, has failed or works again. A host has to look. */
  may_have_landed: boolean;
}

/**
 * Locks the other attempts. Under the locks of their tasks. Index: changes_attempts_idx.
 * $1 workspace, $2 their group, $3 change.
 */
export const lockOtherAttempts = query<OtherAttempt>(
  'lock_other_attempts',
  `
SELECT c.task_id, c.state, c.state IN ('APPROVED', 'MERGED') AS is_chosen,
  c.state = 'CLOSED' AND c.step = 'remove' AND c.landing_commits || c.earlier_landings <> '{}'
    OR c.state IN ('WORKING', 'FAILED') AND c.may_have_landed AS may_have_landed
FROM changes c
WHERE c.workspace_id = $1 AND c.attempts_id = $2 AND c.task_id <> $3
ORDER BY c.task_id
FOR NO KEY UPDATE`,
);

/**
 * A change in review waits for another attempt. Under the task's lock. Index: primary key.
 * $1 workspace, $2 change, $3 why.
 */
export const obstructChange = command<{ task_id: string }>(
  'obstruct_change',
  `
UPDATE changes c SET obstacle = $3, step_attempts = 0, version = c.version + 1, updated_at = now()
WHERE c.workspace_id = $1 AND c.task_id = $2
RETURNING c.task_id`,
);
