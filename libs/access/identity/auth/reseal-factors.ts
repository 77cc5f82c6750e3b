import type { Config } from '#lib/config';
import type { SqlRunner } from '#lib/database';
import type { Logger } from '#lib/observability';
import { openFactor, sealFactor } from '../domain/factor-secret.js';
import { findOldFactors, resealFactor } from '../store/second-factors.sql.js';

const BATCH = 100;
const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Seals the second factors of earlier master keys with the current one, so that the earlier keys
 * can be removed. Any number of servers can do it at once.
 *
 * @returns the numbers of resealed factors, and of those that cannot be opened
 */
export async function resealFactors(
  runner: SqlRunner,
  masters: Config['encryption']['masterKeys'],
  logger: Logger,
): Promise<{ resealed: number; unreadable: number }> {
  const earlier = masters.slice(1).map(({ id }) => id);
  const total = { resealed: 0, unreadable: 0 };
  if (earlier.length === 0) return total;
  for (let after: string | undefined = FIRST; after !== undefined;) {
    const rows: { user_id: string; sealed: string }[] = await runner.rows(findOldFactors, [
      earlier,
      after,
      BATCH,
    ]);
    for (const { user_id: userId, sealed } of rows) {
      const secret = openFactor(masters, userId, sealed);
      if (secret === undefined) {
        total.unreadable++;
        logger.error('second factor cannot be opened', { userId });
        continue;
      }
      await runner.rows(resealFactor, [userId, sealFactor(masters, userId, secret), sealed]);
      total.resealed++;
    }
    after = rows.at(-1)?.user_id;
  }
  return total;
}
