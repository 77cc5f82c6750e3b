import { query } from '#lib/database';

/**
 * Serialises requests of one user that create workspaces or API keys, so that these can be counted.
 * Until the transaction ends. The cast is for Prisma, which reads no void. $1 user.
 */
export const lockAccount = query<never>(
  'identity_lock_account',
  `SELECT pg_advisory_xact_lock(hashtextextended('account of ' || $1::text, 0))::text`,
);
