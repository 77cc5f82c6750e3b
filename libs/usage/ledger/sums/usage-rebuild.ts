import type { Database, Transaction } from '#lib/database';
import {
  forgetRollups,
  lockRollups,
  readRollupMonths,
  rebuildDays,
  rebuildMonth,
  type RollupMonth,
} from './rebuild.sql.js';

/**
 * Rebuilds the sums of usage from the reports that are kept, while servers run, with a transaction
 * for each workspace and month. Days whose reports were removed stay as they are.
 *
 * @returns the number of rebuilt months of workspaces
 */
export async function rebuildUsageRollups({ service }: Pick<Database, 'service'>): Promise<number> {
  const months = await service.rows(readRollupMonths);
  for (const month of months) await service.transaction((tx) => rebuild(tx, month));
  return months.length;
}

async function rebuild(tx: Transaction, { workspace_id: id, month }: RollupMonth): Promise<void> {
  const [progress] = await tx.rows(lockRollups);
  await tx.rows(forgetRollups, [id, month]);
  await tx.rows(rebuildDays, [id, month, progress?.position ?? '0']);
  await tx.rows(rebuildMonth, [id, month]);
}
