import { command } from '#lib/database';
import { journalRow } from '#lib/transitions';
import { CHANGE_FIELDS } from '../store/change-transition.sql.js';

/** SQL: the earliest time at which a review is overdue. Index: changes_review_due_idx. */
export const NEXT_OVERDUE_REVIEW = `(SELECT review_due_at FROM changes
  WHERE review_due_at IS NOT NULL ORDER BY review_due_at LIMIT 1)`;

/**
 * Notes once that reviews are overdue. No state changes. Index: changes_review_due_idx. $1 maximum
 * number of rows, $2 workspace or NULL.
 */
export const noteOverdueReviews = command<{ workspace_id: string }>(
  'note_overdue_reviews',
  `
WITH due AS MATERIALIZED (
  SELECT c.workspace_id, c.task_id FROM changes c
  WHERE c.review_due_at <= now() AND ($2::uuid IS NULL OR c.workspace_id = $2)
  ORDER BY c.review_due_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
c AS (
  UPDATE changes c SET review_due_at = NULL, updated_at = now() FROM due d
  WHERE c.workspace_id = d.workspace_id AND c.task_id = d.task_id
  RETURNING c.*
),
journaled AS (
  ${journalRow(
    {
      workspace_id: 'c.workspace_id',
      event: "'change.review_overdue'",
      task_id: 'c.task_id',
      run_id: 'c.run_id',
      level: "'WARN'",
      message: "'Nobody has reviewed its change in time'",
      details: `jsonb_build_object('waitingSince', to_json(c.submitted_at)::jsonb, ${CHANGE_FIELDS})`,
      actor_kind: "'coordinator'",
    },
    'c',
  )}
)
SELECT workspace_id FROM c`,
);
