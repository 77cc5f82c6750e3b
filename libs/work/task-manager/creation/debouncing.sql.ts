import { command, query } from '#lib/database';
import { recordOfChange } from '#lib/transitions';

/** Until the end of the transaction. $1 workspace, $2 debounce key. */
export const lockDebounceKey = query<never>(
  'lock_debounce_key',
  `SELECT pg_advisory_xact_lock(hashtextextended('debounce ' || $1::text || ' ' || $2::text, 0))`,
);

/**
 * Moves the start of the task that waits under a debounce key. Index: agent_tasks_debounce_idx.
 * $1 workspace, $2 key, $3 to $6 see recordOfChange, $7 the start or NULL, $8 seconds from now or
 * NULL, $9 the expiry or NULL, $10 seconds from now or NULL. The expiry is that of the new request.
 */
export const moveStart = command<{ id: string }>(
  'move_start',
  `
WITH waiting AS MATERIALIZED (
  SELECT t.id FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.debounce_key = $2 AND t.waits_for_start AND t.status = 'PENDING'
  ORDER BY t.id DESC LIMIT 1
  FOR NO KEY UPDATE
),
changed AS (
  UPDATE agent_tasks t SET version = t.version + 1, updated_at = now(),
    start_at = coalesce($7::timestamptz, now() + make_interval(secs => $8::int)),
    queue_expires_at = coalesce($9::timestamptz, now() + make_interval(secs => $10::int))
  FROM waiting w WHERE t.workspace_id = $1 AND t.id = w.id
  RETURNING t.id, t.version, t.status
),
${recordOfChange('start_moved')}
SELECT id FROM changed`,
);
