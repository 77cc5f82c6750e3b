import { query } from '#lib/database';
import { LOCKED_TASK_COLUMNS, type LockedTask } from '#lib/transitions';

export interface LostSession extends LockedTask {
  /** True if the session belonged to an earlier life of the gateway. */
  of_earlier_life: boolean;
}

/**
 * Tasks, locked, whose session their gateway no longer has: sessions of an earlier life, and
 * sessions of this life that the heartbeat would list. The heartbeat's number says which sessions
 * it knows, however long it was on its way. No task, when the gateway has restarted since.
 *
 * As the service role. Index: session_spawns_spawned_idx, then primary keys. $1 gateway, $2 its
 * boot, $3 runs that it has, $4 the heartbeat's number, $5 rows at most.
 */
export const lockLostSessions = query<LostSession>(
  'lock_lost_sessions',
  `
SELECT ${LOCKED_TASK_COLUMNS}, s.gateway_boot_id IS DISTINCT FROM $2::uuid AS of_earlier_life
FROM session_spawns s
JOIN task_runs r ON r.workspace_id = s.workspace_id AND r.id = s.run_id AND r.ended_at IS NULL
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
WHERE s.state = 'SPAWNED' AND s.gateway_id = $1 AND s.run_id <> ALL ($3::uuid[])
  AND (s.gateway_boot_id IS DISTINCT FROM $2::uuid OR s.gateway_sequence < $4::bigint)
  AND EXISTS (SELECT FROM gateways g WHERE g.id = $1 AND g.boot_id = $2::uuid)
ORDER BY t.workspace_id, t.id
LIMIT $5
FOR NO KEY UPDATE OF t SKIP LOCKED`,
);
