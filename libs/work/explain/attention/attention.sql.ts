import { query } from '#lib/database';
import { isActiveBudget, isReady, isUnserved } from '#lib/transitions';
import { type AttentionCounts, MAX_COUNT } from '../domain/attention-counts.js';

const upTo = (from: string) =>
  `(SELECT count(*)::int FROM (SELECT FROM ${from} LIMIT ${MAX_COUNT}) c)`;

const failing = (kind: string) => `webhooks WHERE workspace_id = $1 AND ${kind}
    AND (disabled_reason = 'gone' OR (disabled_at IS NULL AND failures > 0))`;

/**
 * Counts for the workspace $1.
 *
 * Indexes: agent_tasks_dead_idx, agent_tasks_queue_idx for each set of capabilities,
 * questions_status_idx, changes_state_idx, changes_step_idx, usage_budgets_reached_idx,
 * schedules_failed_idx, agents_error_idx. A workspace has few provider limits and webhooks. Measured
 * with 100,000 failed tasks and 100,000 finished changes, questions and budgets, and with 50,000
 * tasks that no agent can take: 0.4 ms.
 */
export const attentionCounts = query<AttentionCounts>(
  'attention_counts',
  `
SELECT
  ${upTo(`agent_tasks WHERE workspace_id = $1 AND failure_fingerprint IS NOT NULL`)} AS "failedTasks",
  ${upTo(`capability_sets s CROSS JOIN LATERAL (SELECT FROM agent_tasks t
      WHERE t.workspace_id = $1 AND t.capability_key = s.key AND ${isReady('t')}
      ORDER BY t.queue_rank LIMIT ${MAX_COUNT}) t
    WHERE s.workspace_id = $1 AND ${isUnserved('s')}`)}
    AS "unclaimableTasks",
  ${upTo(`questions WHERE workspace_id = $1 AND status = 'open'`)} AS "openQuestions",
  ${upTo(`changes WHERE workspace_id = $1 AND state = 'IN_REVIEW'`)} AS "changesInReview",
  ${upTo(`changes WHERE workspace_id = $1 AND (state IN ('PROVING', 'APPROVED')
    AND obstacle IS NOT NULL AND step_attempts > 0
    OR step IS NOT NULL AND (step_due_at = 'infinity'
      OR step_overdue AND step_waits_since IS NOT NULL))`)} AS "obstructedChanges",
  ${upTo(`usage_budgets b WHERE workspace_id = $1 AND ${isActiveBudget('b')}
    AND reached_percent = 100`)} AS "usedUpBudgets",
  ${upTo(`usage_budgets b WHERE workspace_id = $1 AND ${isActiveBudget('b')}
    AND reached_percent = 90`)} AS "endingBudgets",
  ${upTo(`schedules WHERE workspace_id = $1 AND failed_at IS NOT NULL`)} AS "failedSchedules",
  ${upTo(`agents WHERE workspace_id = $1 AND lifecycle = 'ERROR'`)} AS "silentAgents",
  ${upTo(`(SELECT DISTINCT provider FROM provider_limits WHERE workspace_id = $1
    AND over_at > now()) p`)} AS "refusingProviders",
  ${upTo(failing(`kind = 'signed'`))} AS "failingWebhooks",
  ${upTo(failing(`kind <> 'signed'`))} AS "failingNotices"`,
);
