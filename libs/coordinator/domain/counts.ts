/** How many rows each workspace has. */
export function countByWorkspace(rows: readonly { workspace_id: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { workspace_id: id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
