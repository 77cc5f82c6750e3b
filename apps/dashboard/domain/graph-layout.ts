export interface Edge {
  /** The node that comes first. */
  from: string;
  to: string;
}

/**
 * Arranges nodes in columns from left to right. Each node comes after all its predecessors, and
 * close to them within its column. Nodes of a cycle and their successors come last.
 *
 * @param edges edges between these IDs only
 */
export function layoutColumns(ids: readonly string[], edges: readonly Edge[]): string[][] {
  const before = new Map<string, string[]>(ids.map((id) => [id, []]));
  const after = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { from, to } of edges) {
    before.get(to)?.push(from);
    after.get(from)?.push(to);
  }
  const waits = new Map([...before].map(([id, list]) => [id, list.length]));
  const columns: string[][] = [];
  let column = ids.filter((id) => waits.get(id) === 0);
  const left = new Set(ids);
  const rows = new Map<string, number>();
  while (column.length > 0) {
    const sorted = sortNearPredecessors(column, before, rows);
    columns.push(sorted);
    sorted.forEach((id, row) => rows.set(id, row - (sorted.length - 1) / 2));
    const next: string[] = [];
    for (const id of column) {
      left.delete(id);
      for (const later of after.get(id) ?? []) {
        const open = (waits.get(later) ?? 0) - 1;
        waits.set(later, open);
        if (open === 0) next.push(later);
      }
    }
    column = next;
  }
  if (left.size > 0) columns.push([...left]);
  return columns;
}

function sortNearPredecessors(
  column: readonly string[],
  before: ReadonlyMap<string, readonly string[]>,
  rows: ReadonlyMap<string, number>,
): string[] {
  const rowOf = (id: string) => {
    const own = (before.get(id) ?? []).map((earlier) => rows.get(earlier) ?? 0);
    return own.reduce((sum, row) => sum + row, 0) / Math.max(1, own.length);
  };
  const targetRows = new Map(column.map((id) => [id, rowOf(id)]));
  return column.toSorted((one, other) => (targetRows.get(one) ?? 0) - (targetRows.get(other) ?? 0));
}
