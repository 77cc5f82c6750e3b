import { command } from '#lib/database';
import { isLiveRun } from '#lib/transitions';

/** Seconds of the first cooldown. Each further one doubles, up to the longest. */
const FIRST_SECONDS = 30;
const LONGEST_SECONDS = 900;

/**
 * Starts a cooldown of a push agent whose command made a session fail to start. Sessions that
 * failed together count as one, because an agent in a cooldown is skipped.
 *
 * A repeated report finds its run ended, and starts none.
 *
 * As the service role. Index: primary keys. $1 workspace, $2 agent, $3 run.
 */
export const startCooldown = command<{ resting_until: Date }>(
  'start_cooldown',
  `
UPDATE agents SET setup_failures = setup_failures + 1, updated_at = now(),
  resting_until = now() + make_interval(secs =>
    least(${FIRST_SECONDS} * 2.0 ^ least(setup_failures, 10), ${LONGEST_SECONDS})::float8)
WHERE workspace_id = $1 AND id = $2 AND (resting_until IS NULL OR resting_until <= now())
  AND EXISTS (SELECT FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $3 AND ${isLiveRun('r')})
RETURNING resting_until`,
);

/**
 * Ends the cooldown, because a session of the agent has started.
 *
 * As the service role. Index: primary key. $1 workspace, $2 agent.
 */
export const endCooldown = command<{ id: string }>(
  'end_cooldown',
  `
UPDATE agents SET setup_failures = 0, resting_until = NULL, updated_at = now()
WHERE workspace_id = $1 AND id = $2 AND setup_failures > 0
RETURNING id`,
);

/** Condition on the agent `a`: it is in a cooldown. */
export const isInCooldown = (a: string) => `coalesce(${a}.resting_until > now(), false)`;
