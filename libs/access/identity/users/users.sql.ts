import { command } from '#lib/database';

/**
 * Changes a user: id, version or null, and new values (name, operator, disabled, whether the
 * address is verified; null keeps the old one). A verification removes the password, which somebody
 * else may have chosen; `proven` is then true.
 *
 * Index: primary key.
 */
export const updateUser = command<{ id: string; proven: boolean }>(
  'identity_update_user',
  `UPDATE users u
      SET name = coalesce($3, name),
          is_operator = coalesce($4, is_operator),
          disabled_at = CASE WHEN $5::boolean IS NULL THEN disabled_at
                             WHEN $5 THEN coalesce(disabled_at, now()) END,
          password_hash = CASE WHEN $6 AND NOT email_verified THEN NULL ELSE password_hash END,
          email_verified = coalesce($6, email_verified),
          version = version + 1, updated_at = now()
     FROM (SELECT id AS old_id, email_verified AS was_verified FROM users WHERE id = $1 FOR UPDATE) old
    WHERE u.id = old_id AND ($2::int IS NULL OR version = $2)
   RETURNING u.id, u.email_verified AND NOT was_verified AS proven`,
);

/**
 * Locks every operator who can still sign in, in one order, before one stops being an operator. So
 * two requests cannot remove the last two at once. Reads the whole table, which is small.
 */
export const lockOperators = command<{ id: string }>(
  'identity_lock_operators',
  `SELECT id FROM users WHERE is_operator AND disabled_at IS NULL ORDER BY id FOR UPDATE`,
);
