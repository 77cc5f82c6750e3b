/**
 * SQL: the strictest network policy of a workspace and of a project, which can be NULL. Index:
 * primary keys.
 */
export function networkPolicy(workspace: string, project: string): string {
  return `CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = ${workspace}) = 'host'
    AND (${project} IS NULL OR EXISTS (SELECT FROM projects p
      WHERE p.workspace_id = ${workspace} AND p.id = ${project} AND p.network = 'host'))
    THEN 'host' ELSE 'none' END`;
}
