import { isUnresponsive } from '#lib/agent-manager';
import { query } from '#lib/database';
import { isInFleet, TASK_COUNTS, type TaskCounts } from '#lib/transitions';

export interface StatsRow extends TaskCounts {
  healthy_agents: number;
  stale_agents: number;
}

/**
 * Counts the waiting, running and retrying tasks and the live agents. As a tenant: of its
 * workspace, because row-level security limits every table here. As the service role: of all.
 *
 * agents and agent_heartbeats are read once.
 */
export const readStats = query<StatsRow>(
  'coordinator_read_stats',
  `
SELECT t.*, a.healthy_agents, a.stale_agents
FROM ${TASK_COUNTS} t, (
  SELECT
    count(*) FILTER (WHERE a.lifecycle <> 'ERROR' AND h.last_seen_at IS NOT NULL
      AND NOT unresponsive)::int
      AS healthy_agents,
    count(*) FILTER (WHERE a.lifecycle = 'ERROR' OR unresponsive)::int AS stale_agents
  FROM agents a
  LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
  CROSS JOIN LATERAL (SELECT ${isUnresponsive('a', 'h')} AS unresponsive) s
  WHERE ${isInFleet('a')}
) a`,
);
