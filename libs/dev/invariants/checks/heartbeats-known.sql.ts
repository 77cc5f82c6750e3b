import { query } from '#lib/database';

export interface KnownHeartbeat {
  workspace_id: string;
  agent_id: string;
  /** NULL if the agent does not exist. */
  stale_threshold_seconds: number | null;
  /** Seconds since its last heartbeat in Postgres. NULL if there is none. */
  age_seconds: number | null;
}

/**
 * The heartbeats in Postgres of the agents that Valkey knows.
 *
 * Indexes: primary keys. $1 workspaces, $2 agents, as two arrays of the same length.
 */
export const heartbeatsKnown = query<KnownHeartbeat>(
  'invariant_heartbeats_known',
  `
SELECT heard.workspace_id, heard.id AS agent_id, a.stale_threshold_seconds,
  extract(epoch FROM now() - h.last_seen_at)::float8 AS age_seconds
FROM unnest($1::uuid[], $2::uuid[]) AS heard (workspace_id, id)
LEFT JOIN agents a ON a.workspace_id = heard.workspace_id AND a.id = heard.id
LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id`,
);
