import { command } from '#lib/database';

/**
 * Removes limits that nothing waits for. Index: provider_limits_over_idx.
 * $1 maximum number of rows, $2 workspace or NULL.
 */
export const removePastProviderLimits = command<{ workspace_id: string }>(
  'remove_past_provider_limits',
  `
DELETE FROM provider_limits l USING (
  SELECT workspace_id, id FROM provider_limits
  WHERE over_at <= now() AND ($2::uuid IS NULL OR workspace_id = $2)
  ORDER BY over_at LIMIT $1 FOR UPDATE SKIP LOCKED) p
WHERE l.workspace_id = p.workspace_id AND l.id = p.id
RETURNING l.workspace_id`,
);
