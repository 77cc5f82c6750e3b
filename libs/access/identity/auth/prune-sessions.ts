import type { SqlRunner } from '#lib/database';
import { deleteEndedSessions } from '../store/prune-sessions.sql.js';

/**
 * Forgets sessions that ended more than a day ago, up to `limit`.
 *
 * @returns how many there were
 */
export async function pruneSessions(runner: SqlRunner, limit: number): Promise<number> {
  const removed = await runner.rows(deleteEndedSessions, [limit]);
  return removed.length;
}
