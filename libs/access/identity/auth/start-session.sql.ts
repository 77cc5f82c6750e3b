import { command } from '#lib/database';

/**
 * A sign-in: session, user, refresh token's hash, user agent, address, seconds of allowed
 * inactivity, the link of a single sign-on or null, the hash of the checked password or null. No
 * refresh extends a session of single sign-on.
 *
 * No row if the user was disabled or got another password meanwhile. The lock makes such a change
 * wait, so that it ends this session as well. Index: primary key.
 */
export const startSession = command<{ expires_at: Date }>(
  'identity_start_session',
  `INSERT INTO user_sessions (id, user_id, refresh_hash, user_agent, ip_address, expires_at, renews, identity_id)
   SELECT $1, u.id, $3, $4, $5, now() + $6::int * interval '1 second', $7::uuid IS NULL, $7
     FROM users u
    WHERE u.id = $2 AND u.disabled_at IS NULL AND ($8::text IS NULL OR u.password_hash = $8)
      FOR SHARE OF u
   RETURNING expires_at`,
);
