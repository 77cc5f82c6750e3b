import { query } from '#lib/database';

/**
 * Closes the ledger of a workspace until the transaction ends. Budgets that are created, or that
 * get another period, count the usage so far. No usage is written meanwhile, so it is counted once.
 * $1 workspace.
 */
export const closeLedger = query<never>(
  'close_ledger',
  `SELECT pg_advisory_xact_lock(hashtextextended('usage of ' || $1::text, 0))`,
);

/** Holds the ledger open. Many transactions write usage at once. $1 workspace. */
export const openLedger = query<never>(
  'open_ledger',
  `SELECT pg_advisory_xact_lock_shared(hashtextextended('usage of ' || $1::text, 0))`,
);
