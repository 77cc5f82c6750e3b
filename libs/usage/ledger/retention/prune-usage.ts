import { firstRow, type SqlRunner } from '#lib/database';
import { pruneReports } from './prune-usage.sql.js';

/**
 * Removes a batch of reports that are older than the retention and that no budget needs.
 *
 * @param days the retention @param batch the maximum number of rows of a workspace
 * @returns the largest number of rows that one workspace lost
 */
export async function pruneUsageReports(
  service: SqlRunner,
  days: number,
  batch: number,
): Promise<number> {
  const row = await firstRow(service, pruneReports, [days, batch]);
  return row?.most ?? 0;
}
