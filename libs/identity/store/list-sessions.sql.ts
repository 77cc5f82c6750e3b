import { query } from '#lib/database';

export interface SessionRow {
  id: string;
  created_at: Date;
  last_used_at: Date;
  expires_at: Date;
  user_agent: string | null;
  ip_address: string | null;
}

/** A user's live sessions, newest first. Called by GET /auth/sessions. user_sessions_user_id_idx. */
export const listSessions = query<SessionRow>(
  'identity_list_sessions',
  `SELECT id, created_at, last_used_at, expires_at, user_agent, ip_address
     FROM user_sessions
    WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > now()
    ORDER BY id DESC
    LIMIT 200`,
);
