import { command } from '#lib/database';
import { type NetworkLevels, networkLevels } from '#lib/projects';
import type { TaskAnswer } from '#lib/task-manager';
import { isLeased, isInUse } from '#lib/transitions';
import { ROUTED_BY, type RoutedRow } from '../../store/routed-row.js';

export interface DueSpawn extends RoutedRow {
  workspace_id: string;
  /** The id of the task. */
  id: string;
  agent_id: string;
  attempts: number;
  /** True if the result of the last attempt was never recorded. */
  broke_off: boolean;
  age_seconds: number;
  /** True if the run is still its task's, waits for its session, and may get one. */
  is_current: boolean;
  generation: number;
  title: string;
  description: string | null;
  input_context: unknown;
  checkpoint_data: unknown;
  answers: TaskAnswer[] | null;
  metadata: unknown;
  secrets: Record<string, string>;
  timeout_seconds: number | null;
  /** The trace of the request that created the task; null if it was not traced. */
  traceparent: string | null;
  command: string[];
  agent_secrets: Record<string, string>;
  network_levels: NetworkLevels | null;
  /** The values in the agent's metadata. */
  agent_network: string | null;
  agent_allowed_hosts: unknown;
  /** `limits` of the agent's metadata, unchecked; null if it has none. */
  agent_limits: unknown;
  /** The token version of its agent: the session's token ends with the agent's tokens. */
  token_version: number;
  capabilities: string[];
}

/**
 * Takes due intents for as long as a call can last. A server that dies meanwhile leaves them to the
 * next one, and the gateway recognizes the run.
 *
 * As the service role. Index: session_spawns_due_idx, then primary keys. $1 rows at most, $2
 * seconds for which they are taken, $3 true if the gateway sends heartbeats for its sessions. A run
 * that was assigned for the other protocol is released, and its task assigned again.
 */
export const takeDueSpawns = command<DueSpawn>(
  'take_due_spawns',
  `
WITH due AS MATERIALIZED (
  SELECT s.workspace_id, s.run_id FROM session_spawns s
  WHERE s.state = 'PENDING' AND s.next_attempt_at <= now()
    AND (s.locked_until IS NULL OR s.locked_until <= now())
  ORDER BY s.next_attempt_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
taken AS (
  UPDATE session_spawns s SET locked_until = now() + make_interval(secs => $2::float8), attempts = s.attempts + 1
  FROM due d WHERE s.workspace_id = d.workspace_id AND s.run_id = d.run_id
  RETURNING s.workspace_id, s.run_id, s.task_id AS id, s.agent_id, s.attempts,
    old.locked_until IS NOT NULL AS broke_off, extract(epoch FROM now() - s.created_at)::float8 AS age_seconds
)
SELECT n.*, t.run_id IS NOT DISTINCT FROM n.run_id AND ${isLeased('t')}
  AND ${isInUse('n.workspace_id')} AND r.lease_by_heartbeat = $3::boolean AS is_current,
  r.generation, r.model, ${ROUTED_BY.map((column) => `t.${column}`).join(', ')}, t.title, t.description, t.input_context, t.checkpoint_data, t.answers, t.metadata, t.secrets, t.timeout_seconds,
  t.traceparent,
  a.command, a.secrets AS agent_secrets, a.metadata ->> 'network' AS agent_network,
  a.metadata -> 'allowedHosts' AS agent_allowed_hosts, a.metadata -> 'limits' AS agent_limits,
  ${networkLevels('n.workspace_id', 't.project_id')} AS network_levels, a.capabilities, a.token_version
FROM taken n
JOIN task_runs r ON r.workspace_id = n.workspace_id AND r.id = n.run_id
JOIN agent_tasks t ON t.workspace_id = n.workspace_id AND t.id = n.id
JOIN agents a ON a.workspace_id = n.workspace_id AND a.id = n.agent_id`,
);
