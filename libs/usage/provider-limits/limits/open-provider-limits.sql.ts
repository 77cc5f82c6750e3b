import { command, query } from '#lib/database';
import type { LimitKind } from '../domain/provider-limit.js';

/** A limit that applies now. */
export interface LimitRow {
  id: string;
  provider: string;
  model: string | null;
  kind: LimitKind;
  since: Date;
  until: Date;
  run_id: string;
  agent_id: string;
  agent_name: string;
  reported_at: Date;
}

/**
 * Reads the limits that apply now, the last to end first.
 * Index: primary key. $1 workspace, $2 limit or NULL.
 */
export const openProviderLimits = query<LimitRow>(
  'open_provider_limits',
  `
SELECT l.id, l.provider, l.model, l.kind, l.since, l.until, l.run_id, l.agent_id,
  a.name AS agent_name, l.reported_at
FROM provider_limits l JOIN agents a ON a.workspace_id = l.workspace_id AND a.id = l.agent_id
WHERE l.workspace_id = $1 AND ($2::uuid IS NULL OR l.id = $2) AND l.until > now()
ORDER BY l.until DESC, l.id`,
);

/** Removes a limit that applies now. Index: primary key. $1 workspace, $2 limit. */
export const removeProviderLimit = command<{ id: string }>(
  'remove_provider_limit',
  `
DELETE FROM provider_limits WHERE workspace_id = $1 AND id = $2 AND until > now() RETURNING id`,
);
