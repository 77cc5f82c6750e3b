/**
 * The record of every change of a task that is no transition of its status: one row of the journal for
 * the new version. Needs the CTE `changed` (id, version, status).
 *
 * $1 workspace, $3 actor kind, $4 actor id, $5 details as JSON, $6 names of the changed fields.
 */
export function recordOfChange(event: string): string {
  return `journaled AS (
  INSERT INTO journal (workspace_id, event, log_event, task_id, version, details, previous_status, new_status,
    actor_kind, actor_id)
  SELECT $1, 'task.updated', '${event}', c.id, c.version, $5::jsonb || jsonb_build_object('changedFields', $6::text[]),
    c.status, c.status, $3, $4 FROM changed c
)`;
}
