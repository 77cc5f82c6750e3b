import type { SqlRunner } from '#lib/database';
import { pruneOccurrences } from '../store/occurrences.sql.js';

/** Removes up to `limit` occurrences older than `days` as the service role. Returns the count. */
export async function pruneScheduleOccurrences(
  runner: SqlRunner,
  days: number,
  limit: number,
): Promise<number> {
  return (await runner.rows(pruneOccurrences, [days, limit])).length;
}
