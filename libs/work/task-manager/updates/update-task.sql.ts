import { columnOf, command, recordOf } from '#lib/database';
import { keyWith, recordOfChange } from '#lib/transitions';
import { notedCapabilitySets } from '../store/capability-sets.sql.js';
import { EDITABLE } from '../domain/task-fields.js';

/**
 * Writes the fields that users can change, of one locked task, with its journal row. It leaves
 * status, run and everything else that transitions write alone.
 *
 * Indexes: primary keys. A new priority, and other required capabilities, move a ready task in
 * agent_tasks_queue_idx.
 *
 * $1 workspace, $2 task, $3 to $6 see recordOfChange, $7 the fields as a JSON object, $8 tags to
 * remove, $9 tags to add.
 */
export const updateTask = command<{ version: number }>(
  'update_task',
  `
WITH input AS MATERIALIZED (
  SELECT u.*, array_to_string(u."requiredCapabilities", ',') AS "capabilityKey"
  FROM jsonb_to_record($7::jsonb) AS u (${recordOf(EDITABLE)})
),
${notedCapabilitySets('input')},
changed AS (
  UPDATE agent_tasks t SET
    version = t.version + 1,
    updated_at = now(),
    ${Object.keys(EDITABLE)
      .map((field) => `${columnOf(field)} = u."${field}"`)
      .join(', ')},
    capability_key = ${keyWith('t', 'u."capabilityKey"')}
  FROM input u
  WHERE t.workspace_id = $1 AND t.id = $2
  RETURNING t.id, t.version, t.status
),
untagged AS (
  DELETE FROM agent_task_tags WHERE workspace_id = $1 AND task_id = $2 AND tag = ANY($8::text[])
),
tagged AS (
  INSERT INTO agent_task_tags (workspace_id, task_id, tag) SELECT $1, $2, unnest($9::text[])
),
${recordOfChange('task_updated')}
SELECT version FROM changed`,
);
