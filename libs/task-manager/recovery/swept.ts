import type { Swept } from '../recovery-port.js';

/** What a pass that moved these rows did; as many as its limit mean that there may be more. */
export function swept(rows: readonly { workspace_id: string }[], limit: number): Swept {
  return {
    moved: rows.length,
    more: rows.length >= limit,
    byWorkspace: countByWorkspace(rows),
  };
}

/** Two passes as one. */
export function together(one: Swept, other: Swept): Swept {
  const byWorkspace = new Map(one.byWorkspace);
  for (const [id, count] of other.byWorkspace)
    byWorkspace.set(id, (byWorkspace.get(id) ?? 0) + count);
  return { moved: one.moved + other.moved, more: one.more || other.more, byWorkspace };
}

export function countByWorkspace(rows: readonly { workspace_id: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { workspace_id: id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
