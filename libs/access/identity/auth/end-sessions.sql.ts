import { command } from '#lib/database';

/**
 * Ends one session ($1) of one user ($2), or of any user if $2 is null.
 *
 * Index: primary key.
 */
export const endSession = command<{ id: string; user_id: string }>(
  'identity_end_session',
  `UPDATE user_sessions SET revoked_at = now()
    WHERE id = $1 AND ($2::uuid IS NULL OR user_id = $2) AND revoked_at IS NULL
   RETURNING id, user_id`,
);

/**
 * Ends all sessions of a user but one ($2, which can be null).
 *
 * Index: user_sessions_user_id_idx.
 */
export const endOtherSessions = command<{ id: string }>(
  'identity_end_other_sessions',
  `UPDATE user_sessions SET revoked_at = now()
    WHERE user_id = $1 AND ($2::uuid IS NULL OR id <> $2) AND revoked_at IS NULL
   RETURNING id`,
);
