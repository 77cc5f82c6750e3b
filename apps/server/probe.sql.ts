import { query } from '#lib/database';

/** Proves that a role can sign in. */
export const probe = query<unknown>('server_probe', 'SELECT 1');
