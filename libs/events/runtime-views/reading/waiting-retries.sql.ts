import { query } from '#lib/database';
import type { RetryRow } from '../domain/commands.js';

/** The list has at most this many tasks, because each change writes it anew. */
const MAX_LISTED = 1_000;

/**
 * The tasks of workspaces that wait for their retry, the first due first. Index:
 * agent_tasks_retries_idx, which has only such tasks. Ten beside 100,000 of another workspace: 4
 * buffers, 0.1 ms (60 ms by agent_tasks_retry_due_idx, which has all workspaces). 1,000 of 100,000:
 * 2 ms. $1 workspaces.
 */
export const waitingRetries = query<RetryRow>(
  'views_waiting_retries',
  `
SELECT w.id AS workspace_id, ARRAY(
  SELECT t.id::text FROM agent_tasks t
  WHERE t.workspace_id = w.id AND t.status = 'ABORTED' AND t.retry_at IS NOT NULL
  ORDER BY t.retry_at, t.id LIMIT ${MAX_LISTED}) AS tasks
FROM unnest($1::uuid[]) AS w (id)`,
);
