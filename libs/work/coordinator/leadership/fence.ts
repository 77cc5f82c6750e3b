import type { Fence } from '#lib/database';
import { checkEpoch } from '../store/leadership.sql.js';

/** Another server leads now. Every transaction of this epoch was rolled back. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';

  constructor(readonly epoch: string) {
    super(`Epoch ${epoch} is over: another coordinator leads`);
  }
}

/**
 * The first check of each transaction of a sweep.
 *
 * @param sleepLimitMs milliseconds after which Postgres ends an idle transaction
 * @throws LeadershipLost (from the fence) when the epoch is over
 */
export function fenceFor(epoch: string, sleepLimitMs: number): Fence {
  return async (tx) => {
    const rows = await tx.rows(checkEpoch, [epoch, String(sleepLimitMs)]);
    if (rows.length === 0) throw new LeadershipLost(epoch);
  };
}
