import { command } from '#lib/database';

/**
 * Writes lines of the coordinator's log.
 *
 * As the service role, once a cycle. Index: none is read. $1 instance, $2 JSON array of
 * {workspace_id, level, event, message, details}.
 */
export const appendCoordinatorLogs = command<unknown>(
  'append_coordinator_logs',
  `
INSERT INTO coordinator_logs (workspace_id, instance_id, level, event, message, details)
SELECT l.workspace_id, $1, l.level, l.event, l.message, coalesce(l.details, '{}')
FROM jsonb_to_recordset($2::jsonb)
  AS l (workspace_id uuid, level text, event text, message text, details jsonb)`,
);
