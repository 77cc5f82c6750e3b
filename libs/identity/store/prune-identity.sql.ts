import { command } from '#lib/database';

/**
 * Deletes up to 1,000 revocations that concern no valid token any more.
 *
 * Every server, every ten minutes. Needs token_revocations_expires_at_idx. SKIP LOCKED, so that servers that
 * come at the same time share the work.
 */
export const pruneRevocations = command<{ id: string }>(
  'identity_prune_revocations',
  `DELETE FROM token_revocations
    WHERE id = ANY (ARRAY(
      SELECT id FROM token_revocations WHERE expires_at < now()
       LIMIT 1000 FOR UPDATE SKIP LOCKED))
   RETURNING id`,
);
