import { isUnresponsive } from '#lib/agent-manager';
import { query } from '#lib/database';
import { awaitsRetry, isReady } from '#lib/transitions';

export interface StatsRow {
  ready: number;
  blocked: number;
  assigned: number;
  running: number;
  paused: number;
  retrying: number;
  healthy_agents: number;
  stale_agents: number;
}

/**
 * How many tasks wait, run and are retried, and how many agents live: as a tenant, of its workspace,
 * because row-level security bounds every table here; as the service role, of all.
 *
 * Indexes: agent_tasks_status_idx and agent_tasks_queue_idx (index-only
 * where the table is vacuumed), agent_tasks_retry_due_idx; agents and agent_heartbeats are read once.
 * Measured with 100,000 tasks: 3 ms for a workspace with a tenth of them, 60 ms for all.
 */
export const readStats = query<StatsRow>(
  'coordinator_read_stats',
  `
SELECT t.ready, t.pending - t.ready AS blocked, t.assigned, t.running, t.paused, t.retrying,
  a.healthy_agents, a.stale_agents
FROM (
  SELECT
    (SELECT count(*)::int FROM agent_tasks WHERE status = 'PENDING') AS pending,
    (SELECT count(*)::int FROM agent_tasks t WHERE ${isReady('t')}) AS ready,
    (SELECT count(*)::int FROM agent_tasks WHERE status = 'ASSIGNED') AS assigned,
    (SELECT count(*)::int FROM agent_tasks WHERE status = 'RUNNING') AS running,
    (SELECT count(*)::int FROM agent_tasks WHERE status = 'PAUSED') AS paused,
    (SELECT count(*)::int FROM agent_tasks t WHERE ${awaitsRetry('t')}) AS retrying
) t, (
  SELECT
    count(*) FILTER (WHERE a.lifecycle <> 'ERROR' AND h.last_seen_at IS NOT NULL AND NOT unresponsive)::int
      AS healthy_agents,
    count(*) FILTER (WHERE a.lifecycle = 'ERROR' OR unresponsive)::int AS stale_agents
  FROM agents a
  LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
  CROSS JOIN LATERAL (SELECT ${isUnresponsive('a', 'h')} AS unresponsive) s
  WHERE a.lifecycle <> 'TERMINATED'
) a`,
);
