import { query } from '#lib/database';

export interface FleetRow {
  size: number;
  last_heard_ms: number | null;
}

/**
 * How many agents are expected to beat, and how long ago any of them was heard. Read only when some are
 * silent.
 *
 * Caller: StaleAgents, as the service role. No index: both tables are read once, hashed (1,000 agents:
 * 1 ms).
 */
export const readFleet = query<FleetRow>(
  'coordinator_read_fleet',
  `
SELECT count(*)::int AS size,
  (extract(epoch FROM now() - max(h.last_seen_at)) * 1000)::float8 AS last_heard_ms
FROM agents a JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
WHERE a.lifecycle IN ('STARTING', 'ACTIVE', 'DRAINING')
  AND (a.mode = 'pull' OR a.live_runs > 0)
  AND h.next_expected_at IS DISTINCT FROM 'infinity'`,
);
