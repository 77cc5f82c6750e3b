import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '#lib/config';
import { Database } from '#lib/database';
import { resealFactors } from '#lib/identity';
import type { Logger } from '#lib/observability';
import { KeyRing, Resealing } from '#lib/secrets';
import { databaseOptions } from './connections.js';

const TASKS_AT_ONCE = 100;
/** Wait while other servers hold the remaining values, in milliseconds. */
const WAIT_MS = 200;

/**
 * Creates a new data key and reseals everything with it while the servers run, and the second factors
 * of earlier master keys with the current one. The servers remove the old keys some minutes later.
 *
 * @returns the line to print
 */
export async function rotateKeys(config: Config, logger: Logger): Promise<Record<string, unknown>> {
  const database = new Database(databaseOptions(config, logger));
  try {
    const ring = new KeyRing(database, config);
    const resealing = new Resealing(database, ring, logger);
    const { masterKeys } = config.encryption;
    const factors = await resealFactors(database.service, masterKeys, logger);
    await resealing.rotate();
    const total = { tasks: 0, factors: factors.resealed, unreadable: factors.unreadable };
    for (;;) {
      const { resealed, unreadable, more } = await resealing.batch(TASKS_AT_ONCE);
      total.tasks += resealed;
      total.unreadable += unreadable;
      if (!more) return { message: 'secrets resealed', ...total };
      if (resealed + unreadable === 0) await delay(WAIT_MS);
    }
  } finally {
    await database.close();
  }
}
