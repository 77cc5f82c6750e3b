import { command, query } from '#lib/database';
import { journalRow } from '#lib/transitions';
import type { ReviewKind, Verdict } from '../domain/change-state.js';
import { CHANGE_FIELDS } from './change-transition.sql.js';
import { type ChangeComment, FEEDBACK, type ReviewView } from '../domain/review.js';

export interface ReviewRow {
  id: string;
  revision: number;
  kind: ReviewKind;
  verdict: Verdict;
  commit_id: string | null;
  author: string;
  author_name: string | null;
  body: string;
  comments: ChangeComment[];
  exit_code: number | null;
  duration_ms: number | null;
  external_id: string | null;
  created_at: Date;
}

/** SQL: the present name of an author. A person who has left the workspace has none for it. */
const AUTHOR_NAME = `CASE split_part(v.author, ':', 1)
    WHEN 'user' THEN (SELECT nullif(u.name, '') FROM users u WHERE u.id = substr(v.author, 6)::uuid)
    WHEN 'api_key' THEN (SELECT k.name FROM api_keys k
      WHERE k.workspace_id = v.workspace_id AND k.id = substr(v.author, 9)::uuid)
    WHEN 'agent' THEN (SELECT a.name FROM agents a
      WHERE a.workspace_id = v.workspace_id AND a.id = substr(v.author, 7)::uuid) END`;

const SHOWN = `v.id, v.revision, v.kind, v.verdict, v.commit_id, v.author,
  ${AUTHOR_NAME} AS author_name, v.body, v.comments, v.exit_code, v.duration_ms, v.external_id, v.created_at`;

/**
 * Stores a proof, a review or a conflict. Under the task's lock. $1 workspace, $2 id, $3 change,
 * $4 revision, $5 kind, $6 verdict, $7 commit, $8 author, $9 body, $10 comments as JSON, $11 exit
 * code, $12 ms, $13 its id at the forge.
 */
export const insertReview = command<{ id: string }>(
  'insert_review',
  `
INSERT INTO change_reviews (workspace_id, id, task_id, revision, kind, verdict, commit_id, author,
  body, comments, exit_code, duration_ms, external_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $13)
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
 * The authors who approved a revision of a change, the latest last. Index:
 * change_reviews_change_idx. $1 workspace, $2 change, $3 revision.
 */
export const approvalsOfChange = query<{ author: string }>(
  'approvals_of_change',
  `
SELECT v.author FROM change_reviews v
WHERE v.workspace_id = $1 AND v.task_id = $2 AND v.revision = $3 AND v.verdict = 'approved'
ORDER BY v.id`,
);

/**
 * What of the forge is known already. Index: change_reviews_external_key. $1 workspace, $2 change,
 * $3 ids at the forge.
 */
export const knownOfForge = query<{ external_id: string }>(
  'known_of_forge',
  `
SELECT v.external_id FROM change_reviews v
WHERE v.workspace_id = $1 AND v.task_id = $2 AND v.external_id = ANY ($3::text[])`,
);

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

export function toReviewView(row: ReviewRow): ReviewView {
  return {
    id: row.id,
    revision: row.revision,
    kind: row.kind,
    verdict: row.verdict,
    commit: row.commit_id,
    author: row.author,
    authorName: row.author_name,
    body: row.body,
    comments: row.comments,
    exitCode: row.exit_code,
    durationMs: row.duration_ms,
    createdAt: row.created_at.toISOString(),
  };
}
