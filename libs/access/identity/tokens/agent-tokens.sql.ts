import { command } from '#lib/database';

/** $1 workspace, $2 id, $3 agent, $4 user, $5 API key or NULL, $6 expiry. */
export const insertAgentToken = command<never>(
  'identity_insert_agent_token',
  `INSERT INTO agent_tokens (workspace_id, id, agent_id, issued_by, issued_by_key, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);

/**
 * The seconds that a valid API key has left, or NULL without an expiry. The lock keeps the key from
 * being revoked before the token is committed, because the revocation ends only committed tokens.
 *
 * Index: primary key. $1 workspace, $2 API key.
 */
export const lockValidKey = command<{ seconds_left: number | null }>(
  'identity_lock_valid_key',
  `SELECT floor(extract(epoch FROM expires_at - now()))::float8 AS seconds_left FROM api_keys
    WHERE workspace_id = $1 AND id = $2 AND revoked_at IS NULL
      FOR SHARE`,
);

/** All tokens of an agent. Index: agent_tokens_agent_idx. $1 workspace, $2 agent. */
export const forgetAgentTokens = command<never>(
  'identity_forget_agent_tokens',
  `DELETE FROM agent_tokens WHERE workspace_id = $1 AND agent_id = $2`,
);

/**
 * Removes and returns the tokens that a user has issued, to revoke them: in one workspace or, as
 * the service role, in all.
 *
 * Indexes: the primary key of workspace_members or workspace_members_user_id_idx,
 * agent_tokens_issuer_idx. $1 user, $2 workspace or NULL.
 */
export const takeTokensIssuedBy = command<{ id: string }>(
  'identity_take_tokens_issued_by',
  `DELETE FROM agent_tokens t USING workspace_members m
    WHERE m.user_id = $1 AND ($2::uuid IS NULL OR m.workspace_id = $2)
      AND t.workspace_id = m.workspace_id AND t.issued_by = m.user_id
   RETURNING t.id`,
);

/**
 * Removes and returns the tokens that an API key has issued, to revoke them.
 *
 * Index: agent_tokens_key_idx. $1 workspace, $2 API key.
 */
export const takeTokensOfKey = command<{ id: string }>(
  'identity_take_tokens_of_key',
  `DELETE FROM agent_tokens WHERE workspace_id = $1 AND issued_by_key = $2 RETURNING id`,
);
