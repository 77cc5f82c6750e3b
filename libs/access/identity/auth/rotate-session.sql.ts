import { command } from '#lib/database';

/**
 * Exchanges a session's refresh token: session, hash of the presented token, hash of the next,
 * seconds of allowed inactivity, which extend only a session that renews. No row if the presented
 * token is no longer current.
 *
 * Indexes: primary keys. Two requests with the same token wait for each other on the row, and the
 * second then finds another hash.
 */
export const rotateSession = command<{ user_id: string; expires_at: Date }>(
  'identity_rotate_session',
  `UPDATE user_sessions s
      SET previous_refresh_hash = s.refresh_hash, refresh_hash = $3, last_used_at = now(),
          expires_at = CASE WHEN s.renews THEN now() + $4::int * interval '1 second' ELSE s.expires_at END
     FROM users u
    WHERE s.id = $1 AND s.refresh_hash = $2 AND s.revoked_at IS NULL AND s.expires_at > now()
      AND u.id = s.user_id AND u.disabled_at IS NULL
   RETURNING s.user_id, s.expires_at`,
);
