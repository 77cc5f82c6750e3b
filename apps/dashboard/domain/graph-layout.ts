export interface Edge {
  /** Comes first. */
  from: string;
  to: string;
}

/**
 * Columns from left to right: each node stands behind all that come before it, and, within its column, near them.
 * Nodes of a cycle, and all behind it, come last.
 *
 * @param edges between these ids only
 */
export function columnsOf(ids: readonly string[], edges: readonly Edge[]): string[][] {
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
    const sorted = nearTheirOwn(column, before, rows);
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

function nearTheirOwn(
  column: readonly string[],
  before: ReadonlyMap<string, readonly string[]>,
  rows: ReadonlyMap<string, number>,
): string[] {
  const placeOf = (id: string) => {
    const own = (before.get(id) ?? []).map((earlier) => rows.get(earlier) ?? 0);
    return own.reduce((sum, row) => sum + row, 0) / Math.max(1, own.length);
  };
  const places = new Map(column.map((id) => [id, placeOf(id)]));
  return column.toSorted((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
}
