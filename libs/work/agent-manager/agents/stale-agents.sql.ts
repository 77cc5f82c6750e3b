import { command, query } from '#lib/database';
import {
  agentTransition,
  heartbeatExpected,
  livesByHeartbeats,
  type TransitionedAgent,
  promisesNoHeartbeat,
} from '#lib/transitions';
import { SHORTEST_THRESHOLD, silentFor } from './silent-for.sql.js';

/** Unresponsive for longer than its threshold, by the database's clock. */
const STALE = `h.last_seen_at < now() - make_interval(secs => a.stale_threshold_seconds)
    AND ${heartbeatExpected('a', 'h')}`;

/**
 * Condition on the agent `a` and its heartbeat `h`: it was not heard for longer than its threshold,
 * and should have been. An agent that has never sent a heartbeat is heard when it claims, so it is
 * unresponsive only while it holds nothing, because its runs have their own leases. Such an agent
 * is not declared dead, but a task waits for it in vain.
 */
export const isUnresponsive = (a: string, h: string) => `coalesce(
    ${h}.last_seen_at < now() - make_interval(secs => ${a}.stale_threshold_seconds)
    AND CASE WHEN ${promisesNoHeartbeat(h)} THEN ${a}.mode = 'pull' AND ${a}.live_runs = 0
      ELSE ${livesByHeartbeats(a)} END, false)`;

export interface StaleAgentRow {
  workspace_id: string;
  id: string;
  stale_threshold_seconds: number;
  /** Seconds since it was heard. */
  silent_seconds: number;
  live_runs: number;
}

/**
 * Agents that Postgres has not heard for longer than their threshold. This is no verdict yet,
 * because Valkey can have a heartbeat that was not flushed (`HeartbeatStore.deadlinesOf`).
 *
 * As the service role. $1 maximum number of rows. Every heartbeat would write an index on
 * last_seen_at, so agent_heartbeats is read once (10,000 agents: 2 ms). Only agents that are older
 * than the shortest threshold are looked up. Indexes: agents_stale_threshold_idx, primary key.
 */
export const staleAgents = query<StaleAgentRow>(
  'stale_agents',
  `
SELECT a.workspace_id, a.id, a.stale_threshold_seconds, a.live_runs,
  extract(epoch FROM now() - h.last_seen_at)::float8 AS silent_seconds
FROM ${silentFor(SHORTEST_THRESHOLD)}
WHERE ${STALE}
ORDER BY a.id
LIMIT $1`,
);

/**
 * Marks agents as ERROR if they are still unresponsive. A heartbeat that was flushed since saves
 * its agent. Skips locked agents, because the lock's holder is about to change them.
 *
 * In a fenced transaction. Indexes: primary keys. $1 workspaces, $2 agents, as two arrays of the
 * same length.
 */
export const markAgentsStale = command<TransitionedAgent>(
  'mark_agents_stale',
  `
WITH unresponsive AS MATERIALIZED (
  SELECT a.workspace_id, a.id, 'ERROR' AS to_lifecycle, 'agent_stale' AS reason
  FROM unnest($1::uuid[], $2::uuid[]) AS s (workspace_id, id)
  JOIN agents a ON a.workspace_id = s.workspace_id AND a.id = s.id
  JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
  WHERE ${STALE}
  ORDER BY a.id
  FOR NO KEY UPDATE OF a SKIP LOCKED
),
${agentTransition('unresponsive')}
SELECT workspace_id, id, version, previous_lifecycle, lifecycle, previous_status, status
FROM agent_moved`,
);
