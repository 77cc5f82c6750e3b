import { command } from '#lib/database';
import { journaled } from '#lib/transitions';
import { runDoorWithoutEnd } from '#lib/transitions';

/**
 * STALE is a warning about a run whose agent has missed two beats; a beat takes it back. Only a run
 * with a lease that beats carry can become STALE: the others are not expected to beat.
 *
 * Caller: TaskRecovery.watchLiveness. Index: task_runs_lease_idx or task_runs_live_agent_idx, of which
 * both hold only live runs. $1 rows, $2 workspace or NULL.
 */
export const markStaleRuns = command<{ workspace_id: string; task_id: string }>(
  'mark_stale_runs',
  `
WITH silent AS MATERIALIZED (
  SELECT r.workspace_id, r.id FROM task_runs r
  JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
  JOIN agent_heartbeats h ON h.workspace_id = r.workspace_id AND h.agent_id = r.agent_id
  WHERE r.state = 'WORKING' AND r.lease_by_heartbeat
    AND h.last_seen_at < now() - make_interval(secs => 2 * a.heartbeat_interval_seconds)
    -- Who has never beaten is not expected to.
    AND h.next_expected_at IS DISTINCT FROM 'infinity'
    AND ($2::uuid IS NULL OR r.workspace_id = $2)
  LIMIT $1
),
${runDoorWithoutEnd('STALE', 'silent')},
${journaled('runs')}
SELECT workspace_id, task_id FROM run_moved`,
);

export const reviveStaleRuns = command<{ workspace_id: string; task_id: string }>(
  'revive_stale_runs',
  `
WITH back AS MATERIALIZED (
  SELECT r.workspace_id, r.id FROM task_runs r
  JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
  JOIN agent_heartbeats h ON h.workspace_id = r.workspace_id AND h.agent_id = r.agent_id
  WHERE r.state = 'STALE' AND r.lease_by_heartbeat
    AND h.last_seen_at >= now() - make_interval(secs => 2 * a.heartbeat_interval_seconds)
    AND ($2::uuid IS NULL OR r.workspace_id = $2)
  LIMIT $1
),
${runDoorWithoutEnd('WORKING', 'back')},
${journaled('runs')}
SELECT workspace_id, task_id FROM run_moved`,
);
