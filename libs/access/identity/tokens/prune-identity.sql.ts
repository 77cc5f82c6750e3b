import { command } from '#lib/database';

/**
 * Deletes up to 1,000 revocations that no longer concern a valid token.
 *
 * Every server, every ten minutes. Index: token_revocations_expires_at_idx. SKIP LOCKED lets
 * concurrent servers share the work.
 */
export const pruneRevocations = command<{ id: string }>(
  'identity_prune_revocations',
  `DELETE FROM token_revocations
    WHERE id = ANY (ARRAY(
      SELECT id FROM token_revocations WHERE expires_at < now()
       LIMIT 1000 FOR UPDATE SKIP LOCKED))
   RETURNING id`,
);

/** The same for expired tokens of agents. Index: agent_tokens_expires_at_idx. */
export const pruneAgentTokens = command<{ id: string }>(
  'identity_prune_agent_tokens',
  `DELETE FROM agent_tokens
    WHERE (workspace_id, id) IN (
      SELECT workspace_id, id FROM agent_tokens WHERE expires_at < now()
       LIMIT 1000 FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);

/** The same for ended invitations. Index: workspace_invitations_expires_at_idx. */
export const pruneInvitations = command<{ id: string }>(
  'identity_prune_invitations',
  `DELETE FROM workspace_invitations
    WHERE (workspace_id, id) IN (
      SELECT workspace_id, id FROM workspace_invitations WHERE expires_at < now()
       LIMIT 1000 FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);
