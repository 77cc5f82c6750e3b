import { query } from '#lib/database';
import type { Review } from '#lib/repositories/domain';
import type { ChangeState, Step } from '../domain/change-state.js';

export interface ChangeRow {
  task_id: string;
  repository_id: string;
  state: ChangeState;
  version: number;
  target: string;
  branch: string | null;
  base_commit: string | null;
  head_commit: string | null;
  merged_commit: string | null;
  landing_commits: string[];
  earlier_landings: string[];
  /** A host was about to push it, and none has looked since whether it is on its target. */
  may_have_landed: boolean;
  run_id: string | null;
  revision: number;
  unattended_revisions: number;
  files_changed: number | null;
  insertions: number | null;
  deletions: number | null;
  approved_by: string | null;
  review_task_id: string | null;
  review_step: 'ask' | 'take' | null;
  obstacle: string | null;
  pull_request: number | null;
  pull_request_url: string | null;
  pull_request_seen: string | null;
  step: Step | null;
  step_generation: number;
  step_agent_id: string | null;
  step_until: Date | null;
  step_attempts: number;
  created_at: Date;
  submitted_at: Date | null;
  review_due_at: Date | null;
  approved_at: Date | null;
  merged_at: Date | null;
  closed_at: Date | null;
  /** The first of the attempts at the same change. NULL: there is one. */
  attempts_id: string | null;
}

/** The columns of ChangeRow. */
export const CHANGE_COLUMNS = `c.task_id, c.repository_id, c.state, c.version, c.target, c.branch,
  c.base_commit, c.head_commit, c.merged_commit, c.landing_commits, c.earlier_landings,
  c.may_have_landed, c.run_id, c.revision, c.unattended_revisions, c.files_changed, c.insertions, c.deletions, c.approved_by,
  c.review_task_id, c.review_step, c.obstacle, c.pull_request,
  c.pull_request_url, c.pull_request_seen, c.step, c.step_generation, c.step_agent_id, c.step_until,
  c.step_attempts, c.created_at, c.submitted_at, c.review_due_at, c.approved_at, c.merged_at,
  c.closed_at, c.attempts_id`;

/** A change as the API shows it. */
export interface ShownChange extends ChangeRow {
  title: string;
  summary: string | null;
  agent_kind: string | null;
  repository_name: string;
}

/** The columns of ShownChange, from SHOWN_FROM. */
export const SHOWN_COLUMNS = `${CHANGE_COLUMNS}, t.title, t.summary,
  t.agent ->> 'kind' AS agent_kind, r.name AS repository_name`;

export const SHOWN_FROM = `changes c
JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
JOIN repositories r ON r.workspace_id = c.workspace_id AND r.id = c.repository_id`;

/** A change with the policy of its repository. */
export interface LockedChange extends ChangeRow {
  review: Review;
  max_revisions: number;
}

/**
 * Locks a change, and reads the policy of its repository. Under the task's lock. Index: primary
 * keys. $1 workspace, $2 change.
 */
export const lockChange = query<LockedChange>(
  'lock_change',
  `
SELECT ${CHANGE_COLUMNS}, r.review, r.max_revisions
FROM changes c JOIN repositories r ON r.workspace_id = $1 AND r.id = c.repository_id
WHERE c.workspace_id = $1 AND c.task_id = $2
FOR NO KEY UPDATE OF c`,
);

/** Index: primary key. $1 workspace, $2 change. */
export const changeById = query<ChangeRow>(
  'change_by_id',
  `SELECT ${CHANGE_COLUMNS} FROM changes c WHERE c.workspace_id = $1 AND c.task_id = $2`,
);
