import { command, query } from '#lib/database';

/** What the description of a pull request needs beside the row of its change. */
export interface PullRequestFacts {
  title: string;
  description: string | null;
  summary: string | null;
  agent_kind: string | null;
  /** The subject of the inbound hook that created the task, such as github:team/shop#12. */
  subject: string | null;
  runs: number;
  /** Tokens and USD include the agents that reviewed it, as in CostRow. */
  tokens: string;
  cost_usd: string;
}

/**
 * Only ended runs count, so that the description of a change stays while an agent works. Indexes:
 * primary keys, task_runs_task_idx. $1 workspace, $2 change.
 */
export const factsOfPullRequest = query<PullRequestFacts>(
  'facts_of_pull_request',
  `
SELECT t.title, t.description, t.summary, t.agent ->> 'kind' AS agent_kind,
  t.metadata -> 'source' ->> 'subject' AS subject, u.runs, u.tokens, u.cost_usd
FROM agent_tasks t
JOIN changes c ON c.workspace_id = $1 AND c.task_id = t.id
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.task_id = t.id)::int AS runs,
    coalesce(sum(r.used_tokens), 0)::text AS tokens,
    trim_scale(coalesce(sum(r.used_cost_usd), 0))::text AS cost_usd
  FROM task_runs r
  WHERE r.workspace_id = $1 AND r.task_id = ANY (c.review_task_ids || c.task_id)
    AND r.ended_at IS NOT NULL) u
WHERE t.workspace_id = $1 AND t.id = $2`,
);

/**
 * Keeps what a host knows of a pull request. Under the task's lock. Index: primary key. $1 workspace,
 * $2 change, $3 number or NULL, $4 address, $5 what the host has written and read, or NULL.
 */
export const keepPullRequest = command<{ task_id: string }>(
  'keep_pull_request',
  `
UPDATE changes c SET pull_request = $3, pull_request_url = $4, pull_request_seen = $5,
  version = c.version + (c.pull_request IS DISTINCT FROM $3)::int
WHERE c.workspace_id = $1 AND c.task_id = $2
RETURNING c.task_id`,
);

/**
 * Makes changes of repositories due for their hosts, because something happened at the forge. A step
 * that a host has, which can have read the forge before, is due again after it. Indexes:
 * changes_pull_request_idx, changes_step_idx. With 100,000 merged changes and 100 open ones: 0.3 ms.
 * $1 workspace, $2 repositories, $3 pull request or NULL, $4 commit or NULL.
 */
export const hurryChanges = command<{ task_id: string }>(
  'hurry_changes',
  `
UPDATE changes c SET step_due_at = now(), step_hurried = true
WHERE c.workspace_id = $1 AND c.repository_id = ANY ($2::uuid[]) AND c.pull_request IS NOT NULL
  AND c.step IN ('sync', 'land')
  AND (c.pull_request = $3 OR c.head_commit = $4 OR $4 = ANY (c.landing_commits))
RETURNING c.task_id`,
);
