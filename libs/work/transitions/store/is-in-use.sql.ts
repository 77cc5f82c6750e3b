/**
 * SQL: the workspace exists and is not archived, so its tasks are handed out and its runs can
 * report. Primary key.
 */
export function isInUse(workspace: string): string {
  return `EXISTS (SELECT FROM workspaces used WHERE used.id = ${workspace}
    AND used.archived_at IS NULL)`;
}
