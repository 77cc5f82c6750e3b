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
