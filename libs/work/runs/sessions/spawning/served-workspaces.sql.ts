import { query } from '#lib/database';
import { isInFleet } from '#lib/transitions';

/**
 * Workspaces with push agents. The coordinator assigns their ready tasks.
 *
 * Once a cycle, as the service role. Index: agents_push_idx.
 */
export const servedWorkspaces = query<{ workspace_id: string }>(
  'served_workspaces',
  `
SELECT DISTINCT a.workspace_id FROM agents a
WHERE a.mode = 'push' AND ${isInFleet('a')} AND a.command <> '{}'`,
);
