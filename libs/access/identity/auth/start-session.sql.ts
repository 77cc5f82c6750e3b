import { command } from '#lib/database';

/**
 * A sign-in: session, user, refresh token's hash, user agent, address, seconds of allowed
 * inactivity, whether a refresh extends the session.
 *
 * Writes nothing if the user was disabled meanwhile.
 */
export const startSession = command<{ expires_at: Date }>(
  'identity_start_session',
  `INSERT INTO user_sessions (id, user_id, refresh_hash, user_agent, ip_address, expires_at, renews)
   SELECT $1, u.id, $3, $4, $5, now() + $6::int * interval '1 second', $7
     FROM users u WHERE u.id = $2 AND u.disabled_at IS NULL
   RETURNING expires_at`,
);
