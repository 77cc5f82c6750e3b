import { query } from '#lib/database';

export interface KnownHeartbeat {
  agent_id: string;
  /** NULL: there is no such agent. */
  stale_threshold_seconds: number | null;
  /** Seconds since its last heartbeat that Postgres knows of; NULL: it knows of none. */
  age_seconds: number | null;
}

/** The heartbeats in Postgres of the agents that Valkey has heard. $1 their ids. Indexes: primary keys. */
export const heartbeatsKnown = query<KnownHeartbeat>(
  'invariant_heartbeats_known',
  `
SELECT heard.id AS agent_id, a.stale_threshold_seconds,
  extract(epoch FROM now() - h.last_seen_at)::float8 AS age_seconds
FROM unnest($1::uuid[]) AS heard (id)
LEFT JOIN agents a ON a.id = heard.id
LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id`,
);
