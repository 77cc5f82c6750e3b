import { command, query } from '#lib/database';
import type { SealedRow } from '../domain/sealed-columns.js';

export interface SealedTaskRow extends Required<SealedRow> {
  workspace_id: string;
  id: string;
}

/**
 * Locks tasks with values under another key than the current one. One that somebody else works on is
 * left for the next time.
 *
 * Caller: Resealing. Index: task_seals_key_idx, agent_tasks (primary key).
 * $1 current key, $2 tasks at most.
 */
export const lockSealedTasks = query<SealedTaskRow>(
  'lock_sealed_tasks',
  `
SELECT t.workspace_id, t.id, t.input_context, t.checkpoint_data, t.output_result, t.metadata
FROM agent_tasks t
WHERE (t.workspace_id, t.id) IN (
  SELECT s.workspace_id, s.task_id FROM task_seals s
  WHERE s.key_id <> $1 AND s.unreadable_at IS NULL LIMIT $2)
FOR NO KEY UPDATE OF t SKIP LOCKED`,
);

/**
 * Writes locked tasks' columns as they were sealed anew, and that nothing of theirs is under another
 * key any more. No version is raised: what the task says is the same.
 *
 * Caller: Resealing. Indexes: primary keys.
 * $1 current key, $2 JSON array of {workspace_id, id, sealed, and the four columns}.
 */
export const writeResealed = command<{ id: string }>(
  'write_resealed',
  `
WITH done AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS x (workspace_id uuid, id uuid, sealed boolean,
    input_context jsonb, checkpoint_data jsonb, output_result jsonb, metadata jsonb)
),
written AS (
  UPDATE agent_tasks t SET input_context = d.input_context, checkpoint_data = d.checkpoint_data,
    output_result = d.output_result, metadata = d.metadata
  FROM done d WHERE t.workspace_id = d.workspace_id AND t.id = d.id
  RETURNING t.id
),
forgotten AS (
  DELETE FROM task_seals s USING done d
  WHERE s.workspace_id = d.workspace_id AND s.task_id = d.id AND s.key_id <> $1
),
noted AS (
  INSERT INTO task_seals (workspace_id, task_id, key_id)
  SELECT d.workspace_id, d.id, $1 FROM done d WHERE d.sealed
  ON CONFLICT DO NOTHING
)
SELECT id FROM written`,
);

/**
 * Sets tasks aside that can not be sealed anew because something of them does not open. Their keys
 * stay.
 *
 * Caller: Resealing. Index: task_seals (primary key). $1 current key, $2 JSON array of {workspace_id, id}.
 */
export const setUnreadableAside = command<unknown>(
  'set_unreadable_aside',
  `
UPDATE task_seals s SET unreadable_at = now()
FROM jsonb_to_recordset($2::jsonb) AS x (workspace_id uuid, id uuid)
WHERE s.workspace_id = x.workspace_id AND s.task_id = x.id AND s.key_id <> $1`,
);

/** Whether anything is left to be sealed anew. Caller: Resealing. $1 current key. */
export const anythingToReseal = query<{ found: boolean }>(
  'anything_to_reseal',
  `
SELECT EXISTS (SELECT FROM task_seals WHERE key_id <> $1 AND unreadable_at IS NULL) AS found`,
);
