import { isActiveBudget, isClosed } from '#lib/transitions';

/*
 * The periods of budgets. The coordinator looks at a budget when its `due_at` has come: it sends a
 * notice, or gives a recurring budget its next period.
 */

/**
 * SQL: the moment from which people can hear that a budget ends: in the last tenth of its period,
 * and at most three days before its end.
 *
 * @param b an alias with the columns period_start and period_end
 */
export function noticeTime(b: string): string {
  return `${b}.period_end
    - least((${b}.period_end - ${b}.period_start) / 10, interval '3 days')`;
}

/**
 * SQL: the first due time of a budget or of another period of it.
 *
 * @param b an alias with the columns period_start, period_end and every
 */
export function firstDueTime(b: string): string {
  return `CASE WHEN ${b}.every IS NULL THEN ${noticeTime(b)} ELSE ${b}.period_end END`;
}

/**
 * SQL: another budget limits the scope when the period of the budget `b` ends, or within a minute.
 * Index: usage_budgets_period_is_free.
 */
export function isFollowed(b: string): string {
  return `EXISTS (SELECT FROM usage_budgets f
    WHERE f.workspace_id = ${b}.workspace_id AND f.scope_id = ${b}.scope_id AND f.id <> ${b}.id
      AND tstzrange(f.period_start, f.covers_until)
        && tstzrange(${b}.period_end, ${b}.period_end + interval '1 minute', '[]'))`;
}

/**
 * SQL: people can hear that the budget `b` ends or has ended, because usage has no limit then.
 * Index: usage_budgets_period_is_free.
 */
export function leavesNoLimit(b: string): string {
  return `(${b}.every IS NULL AND ${b}.period_start <= now() AND ${noticeTime(b)} <= now()
  AND NOT ${isFollowed(b)} AND NOT ${isOfClosedTask(b)}
  AND NOT EXISTS (SELECT FROM usage_budgets f
    WHERE f.workspace_id = ${b}.workspace_id AND f.scope_id = ${b}.scope_id AND f.id <> ${b}.id
      AND ${isActiveBudget('f')}))`;
}

/** SQL: the budget `b` is that of a task that is done, so nobody misses a limit. */
export function isOfClosedTask(b: string): string {
  return `EXISTS (SELECT FROM agent_tasks t
    WHERE t.workspace_id = ${b}.workspace_id AND t.id = ${b}.task_id AND ${isClosed('t')})`;
}
