/**
 * The pauses that hold in a workspace, for statements that hand out tasks. The tables have a handful of
 * rows.
 *
 * @param workspace an SQL expression
 */
export function isPaused(workspace: string): string {
  return `(EXISTS (SELECT FROM installation_pauses p
      WHERE p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))
    OR EXISTS (SELECT FROM pauses p WHERE p.workspace_id = ${workspace} AND p.task_type IS NULL
      AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now())))`;
}

/** The types of tasks that are paused in a workspace, as a text[]; empty when none is. */
export function pausedTypes(workspace: string): string {
  return `ARRAY(SELECT p.task_type::text FROM pauses p WHERE p.workspace_id = ${workspace}
    AND p.task_type IS NOT NULL AND p.ended_at IS NULL AND (p.until IS NULL OR p.until > now()))`;
}

/**
 * Whether a task's type is none of those that are paused. Of the column itself Postgres knows how often each type
 * occurs, but not which are paused: it takes a queue of one type for a paused one, expects nothing to be left of
 * it, and sorts the whole queue where its head would do (50 claimed of 100,000: 60 ms, so 2 ms). Of an
 * expression it knows nothing.
 *
 * @param types an SQL expression, a text[]
 */
export function isOfNone(type: string, types: string): string {
  return `(${type} || '') <> ALL (${types})`;
}
