import { command } from '#lib/database';

/**
 * Writes lines of the coordinator's log. Lines can wait for the database, so each has its own time.
 *
 * As the service role, once a cycle. Index: none is read. $1 instance, $2 JSON array of
 * {workspace_id, level, event, message, details, at}.
 */
export const appendCoordinatorLogs = command<unknown>(
  'append_coordinator_logs',
  `
INSERT INTO coordinator_logs (workspace_id, instance_id, level, event, message, details,
  created_at)
SELECT l.workspace_id, $1, l.level, l.event, l.message, coalesce(l.details, '{}'), l.at
FROM jsonb_to_recordset($2::jsonb)
  AS l (workspace_id uuid, level text, event text, message text, details jsonb,
    at timestamptz)`,
);
