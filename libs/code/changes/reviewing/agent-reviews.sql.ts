import { command, query } from '#lib/database';
import type { Review } from '#lib/repositories/domain';
import { isOver, journalRow } from '#lib/transitions';
import type { ChangeState } from '../domain/change-state.js';
import { CHANGE_FIELDS } from '../store/change-transition.sql.js';

/**
 * In seconds. While a change has an obstacle, for instance after a failure, its review is due this
 * long after the last update of the change.
 */
const RETRY_AFTER = 30;

/** SQL: an agent must be asked, or its task has ended. */
const IS_DUE = `(c.obstacle IS NULL OR c.updated_at <= now() - interval '${RETRY_AFTER} seconds')
  AND (c.review_step = 'ask' OR EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = c.workspace_id AND t.id = c.review_task_id
    AND (${isOver('t')} OR t.status = 'ARCHIVED')))`;

/** SQL: a review by an agent is due, or to be cancelled since a person was first. */
const HAS_REVIEW_STEP = `c.review_step IS NOT NULL AND (c.state <> 'IN_REVIEW' OR ${IS_DUE})`;

/** SQL: a review by an agent is due. Index: changes_reviewing_idx. */
export const AGENT_REVIEW_IS_DUE = `EXISTS (SELECT FROM changes c WHERE ${HAS_REVIEW_STEP})`;

export interface DueAgentReview {
  workspace_id: string;
  task_id: string;
  state: ChangeState;
  review_step: 'ask' | 'take';
}

/**
 * Changes whose reviewing agent is to be asked, has answered, or is no longer needed. Index:
 * changes_reviewing_idx. $1 maximum number of rows, $2 workspace or NULL.
 */
export const dueAgentReviews = query<DueAgentReview>(
  'due_agent_reviews',
  `
SELECT c.workspace_id, c.task_id, c.state, c.review_step FROM changes c
WHERE ${HAS_REVIEW_STEP} AND ($2::uuid IS NULL OR c.workspace_id = $2)
LIMIT $1`,
);

export interface ChangeToReview {
  title: string;
  description: string | null;
  instructions: string | null;
  priority: number;
  project_id: string | null;
  acceptance: string | null;
  target: string;
  head_commit: string | null;
  run_id: string | null;
  review: Review;
  kind: string | null;
  model: string | null;
}

/** What a reviewing agent is given. Index: primary keys. $1 workspace, $2 change. */
export const changeToReview = query<ChangeToReview>(
  'change_to_review',
  `
SELECT t.title, t.description, t.instructions, t.priority, t.project_id, r.acceptance, c.target,
  c.head_commit, c.run_id, r.review, r.reviewer_kind AS kind, r.reviewer_model AS model
FROM changes c
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = c.task_id
JOIN repositories r ON r.workspace_id = $1 AND r.id = c.repository_id
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.state = 'IN_REVIEW' AND c.review_step = 'ask'`,
);

/**
 * The task of the reviewing agent exists. No row: it was asked meanwhile, or the change moved.
 * Index: primary key. $1 workspace, $2 change, $3 task, $4 the commit to review.
 */
export const noteReviewer = command<{ task_id: string }>(
  'note_reviewer',
  `
UPDATE changes c SET review_step = 'take', review_task_id = $3,
  review_task_ids = c.review_task_ids || $3::uuid, updated_at = now(), obstacle = NULL,
  version = c.version + 1
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.state = 'IN_REVIEW' AND c.review_step = 'ask'
  AND c.head_commit = $4
RETURNING c.task_id`,
);

/**
 * The step failed, and is due again later. The obstacle is none of a synchronisation. Index:
 * primary key. $1 workspace, $2 change, $3 why.
 */
export const postponeReview = command<{ task_id: string }>(
  'postpone_review',
  `
UPDATE changes c SET obstacle = $3, step_attempts = 0, updated_at = now(), version = c.version + 1
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.state = 'IN_REVIEW' AND c.review_step IS NOT NULL
RETURNING c.task_id`,
);

/** The words of the reviewing agent. Index: primary keys. $1 workspace, $2 change. */
export const wordsOfReviewer = query<{
  id: string;
  agent_id: string | null;
  is_over: boolean;
  is_completed: boolean;
  words: string;
}>(
  'words_of_reviewer',
  `
SELECT t.id, t.agent_id, (${isOver('t')} OR t.status = 'ARCHIVED') AS is_over,
  t.completed_at IS NOT NULL AS is_completed,
  coalesce(t.output_result ->> 'summary', t.summary, '') AS words
FROM changes c JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = c.review_task_id
WHERE c.workspace_id = $1 AND c.task_id = $2`,
);

/**
 * The server asks an agent that gave no verdict again. Under the task's lock. Index:
 * primary key. $1 workspace, $2 change.
 */
export const askReviewerAgain = command<{ task_id: string }>(
  'ask_reviewer_again',
  `
UPDATE changes c SET review_step = 'ask', obstacle = NULL, step_attempts = 0, updated_at = now(),
  version = c.version + 1
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.state = 'IN_REVIEW' AND c.review_step IS NULL
RETURNING c.task_id`,
);

/**
 * The review by an agent has ended. Without a verdict, $3 tells people why, once. Under the task's
 * lock. Index: primary key. $1 workspace, $2 change, $3 obstacle or NULL.
 */
export const endAgentReview = command<{ task_id: string }>(
  'end_agent_review',
  `
WITH c AS (
  UPDATE changes c SET review_step = NULL, obstacle = $3, updated_at = now(),
    version = c.version + 1,
    step_attempts = CASE c.state WHEN 'IN_REVIEW' THEN 0 ELSE c.step_attempts END
  WHERE c.workspace_id = $1 AND c.task_id = $2
  RETURNING c.*, old.obstacle AS earlier_obstacle
),
journaled AS (
  ${journalRow(
    {
      workspace_id: 'c.workspace_id',
      event: "'change.obstructed'",
      task_id: 'c.task_id',
      run_id: 'c.run_id',
      level: "'WARN'",
      message: 'left(c.obstacle, 500)',
      details: `jsonb_build_object('state', c.state, 'obstacle', c.obstacle, ${CHANGE_FIELDS})`,
      actor_kind: "'coordinator'",
    },
    `(SELECT * FROM c WHERE c.obstacle IS NOT NULL
      AND c.obstacle IS DISTINCT FROM c.earlier_obstacle) c`,
  )}
)
SELECT task_id FROM c`,
);
