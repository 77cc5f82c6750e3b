import { command, query } from '#lib/database';
import type { ReviewKind, Verdict } from '../domain/change-state.js';
import { type ChangeComment, FEEDBACK, type ReviewView } from '../domain/review.js';

export interface ReviewRow {
  id: string;
  revision: number;
  kind: ReviewKind;
  verdict: Verdict;
  commit_id: string | null;
  author: string;
  body: string;
  comments: ChangeComment[];
  exit_code: number | null;
  duration_ms: number | null;
  created_at: Date;
}

const SHOWN = `v.id, v.revision, v.kind, v.verdict, v.commit_id, v.author, v.body, v.comments,
  v.exit_code, v.duration_ms, v.created_at`;

/**
 * Stores a proof, a review or a conflict. Under the task's lock. $1 workspace, $2 id, $3 change,
 * $4 revision, $5 kind, $6 verdict, $7 commit, $8 author, $9 body, $10 comments as JSON, $11 exit
 * code, $12 ms.
 */
export const insertReview = command<{ id: string }>(
  'insert_review',
  `
INSERT INTO change_reviews (workspace_id, id, task_id, revision, kind, verdict, commit_id, author,
  body, comments, exit_code, duration_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12)
RETURNING id`,
);

/** In the order of their creation. Index: change_reviews_change_idx. $1 workspace, $2 change. */
export const reviewsOfChange = query<ReviewRow>(
  'reviews_of_change',
  `
SELECT ${SHOWN} FROM change_reviews v
WHERE v.workspace_id = $1 AND v.task_id = $2 ORDER BY v.id`,
);

/**
 * What the last submission of a change got to hear that its next run must mend, in the order of
 * their creation. Index: change_reviews_change_idx. $1 workspace, $2 change.
 */
export const feedbackOfChange = query<ReviewRow>(
  'feedback_of_change',
  `
SELECT ${SHOWN} FROM change_reviews v
JOIN changes c ON c.workspace_id = $1 AND c.task_id = v.task_id AND c.revision = v.revision
WHERE v.workspace_id = $1 AND v.task_id = $2
  AND v.verdict IN (${FEEDBACK.map((verdict) => `'${verdict}'`).join(', ')})
ORDER BY v.id`,
);

/**
 * Who approved a commit of a change. Index: change_reviews_change_idx. $1 workspace, $2 change,
 * $3 revision.
 */
export const approvalsOfChange = query<{ author: string }>(
  'approvals_of_change',
  `
SELECT v.author FROM change_reviews v
WHERE v.workspace_id = $1 AND v.task_id = $2 AND v.revision = $3 AND v.verdict = 'approved'`,
);

export function toReviewView(row: ReviewRow): ReviewView {
  return {
    id: row.id,
    revision: row.revision,
    kind: row.kind,
    verdict: row.verdict,
    commit: row.commit_id,
    author: row.author,
    body: row.body,
    comments: row.comments,
    exitCode: row.exit_code,
    durationMs: row.duration_ms,
    createdAt: row.created_at.toISOString(),
  };
}
