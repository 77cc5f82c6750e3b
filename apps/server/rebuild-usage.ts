import type { Config } from '#lib/config';
import { Database } from '#lib/database';
import type { Logger } from '#lib/observability';
import { rebuildUsageRollups } from '#lib/ledger';
import { databaseOptions } from './connections.js';

/**
 * Makes the history of usage again from the reports that are kept, while the servers run.
 *
 * @returns the line to print
 */
export async function rebuildUsage(
  config: Config,
  logger: Logger,
): Promise<Record<string, unknown>> {
  const database = new Database(databaseOptions(config, logger));
  try {
    return { message: 'history of usage rebuilt', months: await rebuildUsageRollups(database) };
  } finally {
    await database.close();
  }
}
