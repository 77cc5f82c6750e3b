import { command, query } from '#lib/database';
import { isFollowed, isOfClosedTask, noticeTime } from '../store/period.sql.js';

/** SQL: the time of the next notice or renewal. Index: usage_budgets_due_idx. */
export const nextPeriodDue = `(SELECT min(due_at) FROM usage_budgets)`;

/**
 * Finds budgets whose time has come, as the service role. Index: usage_budgets_due_idx.
 * $1 maximum number of rows, $2 workspace or NULL.
 */
export const duePeriods = query<{ workspace_id: string; id: string }>(
  'usage_due_periods',
  `
SELECT b.workspace_id, b.id FROM usage_budgets b
WHERE b.due_at <= now() AND ($2::uuid IS NULL OR b.workspace_id = $2)
ORDER BY b.due_at
LIMIT $1`,
);

/** A budget whose period has ended or nears its end. */
export interface PeriodRow {
  workspace_id: string;
  task_id: string | null;
  /** Its period has ended. */
  has_ended: boolean;
}

/**
 * SQL: the usage in the scope of `d` since its period ended (`late`), and since its next period
 * began (`next`). They differ only if nobody renewed the budget for longer than a period.
 */
const SINCE_THE_END = `SELECT coalesce(sum(l.total_tokens), 0)::bigint AS late,
    coalesce(sum(l.total_tokens) FILTER (WHERE l.logged_at >= p.period_start), 0)::bigint AS next
  FROM agent_usage_logs l
  WHERE d.is_renewed AND l.workspace_id = d.workspace_id AND l.logged_at >= d.period_end
    AND (d.project_id IS NULL OR l.project_id = d.project_id)
    AND (d.milestone_id IS NULL OR l.milestone_id = d.milestone_id)
    AND (d.task_id IS NULL OR l.task_id = d.task_id)`;

/** SQL: a time as in RFC 3339, in UTC with milliseconds. */
const isoTime = (time: string) =>
  `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL: the sentence that people read about the end of the budget `e`. */
const MESSAGE = `'The budget of the ' || CASE e.scope WHEN 'global' THEN 'workspace' ELSE e.scope END
    || CASE WHEN e.is_renewed THEN ' began its next period'
      WHEN NOT e.has_ended THEN ' ends soon, and no budget follows'
      WHEN e.is_followed THEN ' ended, and another one follows'
      WHEN e.is_needless THEN ' ended after its task'
      ELSE ' ended, and no budget follows: usage has no limit' END`;

/**
 * Ends the periods of budgets of a workspace whose time has come, as the service role. The ledger
 * must be closed. A recurring budget gets the period that contains the present, with the usage of
 * that period and its own allocation; the holds of live runs stay. Other budgets send
 * `budget.ending` if nothing follows them, and `budget.ended`.
 *
 * Indexes: primary key, agent_usage_logs_time_idx from the end of the period on.
 * $1 workspace, $2 budgets.
 */
export const endPeriods = command<PeriodRow>(
  'usage_end_periods',
  `
WITH due AS MATERIALIZED (
  SELECT b.*, now() >= b.period_end AS has_ended,
    b.every IS NOT NULL AND now() >= b.period_end AS is_renewed,
    b.every IS NOT NULL OR ${isFollowed('b')} AS is_followed,
    now() >= ${noticeTime('b')} AS is_near, ${isOfClosedTask('b')} AS is_needless
  FROM usage_budgets b
  WHERE b.workspace_id = $1 AND b.id = ANY ($2::uuid[]) AND b.due_at <= now()
  ORDER BY b.id
  FOR NO KEY UPDATE
),
ending AS MATERIALIZED (
  SELECT d.workspace_id, d.id, d.scope, d.scope_id, d.task_id, d.every, d.has_ended, d.is_renewed,
    d.is_followed, d.is_needless, d.has_ended OR (d.is_near AND NOT d.is_followed AND NOT d.is_needless) AS is_told,
    d.allocated, d.consumed - u.late AS consumed, u.next, d.period_start, d.period_end,
    d.renewed_allocation, p.period_start AS next_start, p.period_end AS next_end,
    CASE WHEN d.is_renewed THEN p.period_end WHEN d.has_ended THEN NULL
      WHEN d.every IS NOT NULL OR d.is_near THEN d.period_end ELSE ${noticeTime('d')} END AS due_at
  FROM due d
  CROSS JOIN LATERAL budget_period(d.first_start, d.every, d.time_zone, now()) p
  CROSS JOIN LATERAL (${SINCE_THE_END}) u
),
moved AS (
  UPDATE usage_budgets b SET due_at = e.due_at,
    period_start = CASE WHEN e.is_renewed THEN e.next_start ELSE b.period_start END,
    period_end = CASE WHEN e.is_renewed THEN e.next_end ELSE b.period_end END,
    allocated = CASE WHEN e.is_renewed THEN e.renewed_allocation ELSE b.allocated END,
    consumed = CASE WHEN e.is_renewed THEN e.next ELSE b.consumed END,
    version = b.version + e.is_renewed::int,
    updated_at = CASE WHEN e.is_renewed THEN now() ELSE b.updated_at END
  FROM ending e WHERE b.workspace_id = e.workspace_id AND b.id = e.id
),
told AS (
  INSERT INTO journal (workspace_id, event, task_id, level, message, details, actor_kind)
  SELECT e.workspace_id, CASE WHEN e.has_ended THEN 'budget.ended' ELSE 'budget.ending' END,
    e.task_id, CASE WHEN e.is_followed OR e.is_needless THEN 'INFO' ELSE 'WARN' END, ${MESSAGE},
    jsonb_build_object('scope', e.scope, 'scopeId', e.scope_id, 'budgetId', e.id,
      'allocated', e.allocated::text, 'consumed', e.consumed::text,
      'periodStart', ${isoTime('e.period_start')}, 'periodEnd', ${isoTime('e.period_end')},
      'followedBy',
      CASE WHEN e.is_renewed THEN 'renewal' WHEN e.is_followed THEN 'budget' ELSE 'nothing' END),
    'coordinator'
  FROM ending e WHERE e.is_told
  ORDER BY e.id
)
SELECT workspace_id, task_id, has_ended FROM ending WHERE is_told`,
);
