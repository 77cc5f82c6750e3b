import type { Fence } from '#lib/database';
import { checkEpoch } from '../store/leadership.sql.js';

/** Another server leads now; every transaction of this epoch was rolled back. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';

  constructor(readonly epoch: string) {
    super(`Epoch ${epoch} is over: another coordinator leads`);
  }
}

/**
 * The check that each transaction of a sweep makes first.
 *
 * @param sleepLimitMs how long the transaction may stand still before Postgres ends it
 * @throws LeadershipLost (the fence does) when the epoch is over
 */
export function fenceFor(epoch: string, sleepLimitMs: number): Fence {
  return async (tx) => {
    const rows = await tx.rows(checkEpoch, [epoch, String(sleepLimitMs)]);
    if (rows.length === 0) throw new LeadershipLost(epoch);
  };
}
