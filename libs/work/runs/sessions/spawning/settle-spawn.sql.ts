import { command } from '#lib/database';

/**
 * Records the result of an intent. An intent that was settled meanwhile stays unchanged.
 *
 * As the service role. Index: primary key. $1 workspace, $2 run, $3 state, $4 error or NULL, $5
 * gateway, $6 its boot, $7 session key, $8 the last heartbeat that did not know of the session.
 */
export const settleSpawn = command<{ run_id: string }>(
  'settle_spawn',
  `
UPDATE session_spawns SET state = $3, last_error = coalesce($4, last_error), gateway_id = $5,
  gateway_boot_id = $6, session_key = $7, gateway_sequence = $8, settled_at = now(), locked_until = NULL
WHERE workspace_id = $1 AND run_id = $2 AND state = 'PENDING'
RETURNING run_id`,
);

/**
 * Schedules another attempt.
 *
 * As the service role. Index: primary key. $1 workspace, $2 run, $3 seconds until then, $4 error or
 * NULL, $5 true if the attempt counts.
 */
export const postponeSpawn = command<{ run_id: string }>(
  'postpone_spawn',
  `
UPDATE session_spawns SET next_attempt_at = now() + make_interval(secs => $3::float8),
  last_error = coalesce($4, last_error), locked_until = NULL,
  attempts = CASE WHEN $5::boolean THEN attempts ELSE attempts - 1 END
WHERE workspace_id = $1 AND run_id = $2 AND state = 'PENDING'
RETURNING run_id`,
);

/**
 * Closes intents whose runs have ended, before or after they had a session.
 *
 * Once a cycle, as the service role. Indexes: session_spawns_due_idx (read whole: few wait),
 * session_spawns_spawned_idx (read whole: one entry per session), then the primary key of
 * task_runs. $1 rows at most.
 */
export const closeSpawns = command<{ workspace_id: string }>(
  'close_spawns',
  `
WITH over AS MATERIALIZED (
  SELECT s.workspace_id, s.run_id
  FROM session_spawns s JOIN task_runs r ON r.workspace_id = s.workspace_id AND r.id = s.run_id
  WHERE s.state IN ('PENDING', 'SPAWNED') AND r.ended_at IS NOT NULL
    AND (s.locked_until IS NULL OR s.locked_until <= now())
  LIMIT $1
  FOR NO KEY UPDATE OF s SKIP LOCKED
)
UPDATE session_spawns s SET settled_at = coalesce(s.settled_at, now()),
  state = CASE s.state WHEN 'PENDING' THEN 'CANCELLED' ELSE 'ENDED' END
FROM over o WHERE s.workspace_id = o.workspace_id AND s.run_id = o.run_id
RETURNING s.workspace_id`,
);
