import type { SqlRunner } from '#lib/database';
import { pruneDeliveries } from '../store/deliveries.sql.js';

/** Removes up to `limit` deliveries older than `days` as the service role. Returns their number. */
export async function pruneInboundDeliveries(
  runner: SqlRunner,
  days: number,
  limit: number,
): Promise<number> {
  const removed = await runner.rows(pruneDeliveries, [days, limit]);
  return removed.length;
}
