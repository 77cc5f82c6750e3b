/**
 * What every change of a task leaves behind that does not move its status (moves go through the task
 * door): one log row for the new version, and one event. Needs the CTE `changed` (id, version,
 * status).
 *
 * $1 workspace, $3 actor kind, $4 actor id, $5 details as JSON, $6 names of the changed fields.
 */
export function recordOfChange(event: string): string {
  return `change_logged AS (
  INSERT INTO agent_task_logs (workspace_id, task_id, task_version, event, details, previous_status,
    new_status, actor_kind, actor_id)
  SELECT $1, c.id, c.version, '${event}', $5::jsonb, c.status, c.status, $3, $4 FROM changed c
),
change_announced AS (
  INSERT INTO outbox_events (workspace_id, type, subject_kind, subject_id, subject_version, payload)
  SELECT $1, 'task.updated', 'task', c.id, c.version, jsonb_build_object(
    'event', 'task.updated', 'taskId', c.id, 'workspaceId', $1::uuid, 'status', c.status,
    'changed', $6::text[], 'timestamp', now(), 'version', c.version)
  FROM changed c
)`;
}
