import { command } from '#lib/database';
import { NO_HEARTBEAT, promisesNoHeartbeat } from '#lib/transitions';

/**
 * A registration is a sign of life. Until an agent has sent a heartbeat, none is expected of it
 * (next_expected_at is infinity), so an agent that is driven by hand and never sends heartbeats is
 * not declared dead.
 *
 * Index: primary key. $1 workspace, $2 agent, $3 its interval in seconds.
 */
export const stampFirstHeartbeat = command<unknown>(
  'stamp_first_heartbeat',
  `
INSERT INTO agent_heartbeats AS h (workspace_id, agent_id, status, last_seen_at, next_expected_at)
VALUES ($1, $2, 'healthy', now(), ${NO_HEARTBEAT})
ON CONFLICT (workspace_id, agent_id) DO UPDATE SET
  status = 'healthy', last_seen_at = greatest(h.last_seen_at, now()),
  next_expected_at = CASE WHEN ${promisesNoHeartbeat('h')} THEN ${NO_HEARTBEAT}
    ELSE now() + make_interval(secs => $3::int) END`,
);
