import { command } from '#lib/database';

/**
 * Deletes up to $1 sessions that ended at least a day ago: expired, or signed out.
 * token_revocations knows the sessions that still have tokens.
 *
 * As the service role. No index serves it: a scan of 100,000 sessions takes 15 ms, every ten
 * minutes. SKIP LOCKED, because a refresh must not wait.
 */
export const deleteEndedSessions = command<{ id: string }>(
  'identity_delete_ended_sessions',
  `DELETE FROM user_sessions
    WHERE id = ANY (ARRAY(
      SELECT id FROM user_sessions
       WHERE least(expires_at, revoked_at) < now() - interval '1 day'
       LIMIT $1 FOR UPDATE SKIP LOCKED))
   RETURNING id`,
);
