/** SQL: the workspace exists and is not archived: its tasks are handed out, its runs may report. Primary key. */
export function isInUse(workspace: string): string {
  return `EXISTS (SELECT FROM workspaces used WHERE used.id = ${workspace} AND used.archived_at IS NULL)`;
}
