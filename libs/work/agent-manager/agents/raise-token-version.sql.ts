import { command } from '#lib/database';

/**
 * Invalidates all tokens of an agent. Later ones carry the new version.
 *
 * Index: primary key. $1 workspace, $2 agent.
 */
export const raiseTokenVersion = command<{ token_version: number }>(
  'raise_token_version',
  `
UPDATE agents SET token_version = token_version + 1, version = version + 1, updated_at = now()
WHERE workspace_id = $1 AND id = $2
RETURNING token_version`,
);
