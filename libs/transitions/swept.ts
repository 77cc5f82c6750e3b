import type { WakeUps } from '#lib/valkey';
import type { Swept } from './sweeps.js';

export const NOTHING: Swept = { moved: 0, more: false, byWorkspace: new Map() };

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
  const findings = [...(one.findings ?? []), ...(other.findings ?? [])];
  return { moved: one.moved + other.moved, more: one.more || other.more, byWorkspace, findings };
}

export function countByWorkspace(rows: readonly { workspace_id: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { workspace_id: id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** Tells those who wait for tasks of the workspaces that these became ready. */
export function wakeClaims(wakeUps: WakeUps, rows: readonly { workspace_id: string }[]): void {
  for (const [workspaceId, count] of countByWorkspace(rows)) wakeUps.claims(workspaceId, count);
}
