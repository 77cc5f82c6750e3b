/** SQL: the start and the concurrency key for which a task waits, beside its dependencies. */
export const AWAITED = (
  t: string,
) => `CASE WHEN ${t}.waits_for_start THEN ${t}.start_at END AS awaited_start,
  CASE WHEN ${t}.waits_for_slot THEN ${t}.concurrency_key END AS awaited_key, ${t}.concurrency_limit`;
