import { query } from '#lib/database';

/**
 * Whether there is any user, with every other first start waiting: the lock lasts as long as the
 * transaction. The number only has to be another than that of the migrations.
 *
 * Called at first start, as the service role.
 */
export const lockFirstStart = query<{ locked: string }>(
  'identity_lock_first_start',
  `SELECT pg_advisory_xact_lock(72707370)::text AS locked`,
);

/** Called with the lock held, as a statement of its own: its snapshot must be younger than the lock. */
export const anyUser = query<{ there: boolean }>(
  'identity_any_user',
  `SELECT EXISTS (SELECT FROM users) AS there`,
);
