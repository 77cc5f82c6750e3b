import { query } from '#lib/database';

/**
 * While budgets of a workspace are made, or get another period, no usage of it is written: what was used before is
 * counted once, by the one or by the other. Until the transaction ends. $1 workspace.
 */
export const closeLedger = query<never>(
  'close_ledger',
  `SELECT pg_advisory_xact_lock(hashtextextended('usage of ' || $1::text, 0))`,
);

/** Many write usage at once, while no budget is being made. $1 workspace. */
export const openLedger = query<never>(
  'open_ledger',
  `SELECT pg_advisory_xact_lock_shared(hashtextextended('usage of ' || $1::text, 0))`,
);
