import { query } from '#lib/database';

/**
 * The user of the live session with this current refresh token: session, hash of the token.
 *
 * Before the token is exchanged. Index: primary key.
 */
export const sessionOwner = query<{ user_id: string }>(
  'identity_session_owner',
  `SELECT user_id FROM user_sessions
    WHERE id = $1 AND refresh_hash = $2 AND revoked_at IS NULL AND expires_at > now()`,
);
