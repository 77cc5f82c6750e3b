import type { SqlRunner } from '#lib/database';
import { deleteEndedSessions } from './prune-sessions.sql.js';

/**
 * Deletes sessions that ended more than a day ago, up to `limit`.
 *
 * @returns their number
 */
export async function pruneSessions(runner: SqlRunner, limit: number): Promise<number> {
  const removed = await runner.rows(deleteEndedSessions, [limit]);
  return removed.length;
}
