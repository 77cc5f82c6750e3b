import { command } from '#lib/database';

/**
 * Replaces a password's hash if it is still the one that was checked ($3; null replaces any).
 *
 * Index: primary key.
 */
export const setPassword = command<{ id: string }>(
  'identity_set_password',
  `UPDATE users SET password_hash = $2, version = version + 1, updated_at = now()
    WHERE id = $1 AND ($3::text IS NULL OR password_hash = $3)
   RETURNING id`,
);
