import { journalRow } from './journal.sql.js';
/**
 * Records a change of a task without a change of status: one row of the journal for the new
 * version. Needs the CTE `changed` (id, version, status).
 *
 * $1 workspace, $3 actor kind, $4 actor id, $5 details as JSON, $6 names of the changed fields.
 *
 * @param details SQL of a row's own details, of `c`, a row of `changed`
 */
export function recordOfChange(event: string, details = '$5::jsonb'): string {
  return `journaled AS (
  ${journalRow(
    {
      workspace_id: '$1',
      event: "'task.updated'",
      log_event: `'${event}'`,
      task_id: 'c.id',
      version: 'c.version',
      details: `${details} || jsonb_build_object('changedFields', $6::text[])`,
      previous_status: 'c.status',
      new_status: 'c.status',
      actor_kind: '$3',
      actor_id: '$4',
    },
    'changed c',
  )}
)`;
}
