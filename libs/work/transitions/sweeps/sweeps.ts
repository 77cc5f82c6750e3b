import type { WakeUps } from '#lib/valkey';

/** The result of one pass of a sweep. */
export interface SweepResult {
  /** Number of moved rows. */
  moved: number;
  /** Whether it stopped at its limit, so that another pass would find more. */
  more: boolean;
  /** Moved rows by workspace id, the part that a tenant can see. */
  byWorkspace: ReadonlyMap<string, number>;
  /** True if rows that somebody else holds were left out. */
  skipped?: boolean;
  /** Findings for the coordinator's log beyond the number. */
  findings?: readonly Finding[];
}

export interface Finding {
  workspaceId: string;
  level: 'WARN' | 'ERROR';
  event: string;
  message: string;
  details: Record<string, unknown>;
}

/** The scope of a sweep. */
export interface SweepScope {
  /** Null means every workspace. */
  workspaceId: string | null;
  /** Includes expensive searches, which run less often than a cycle. */
  thorough: boolean;
}

export const EVERYWHERE: SweepScope = { workspaceId: null, thorough: false };

export const NOTHING: SweepResult = { moved: 0, more: false, byWorkspace: new Map() };

/**
 * The result of a pass that moved these rows. As many rows as the limit mean that there may be
 * more.
 */
export function sweepResult(rows: readonly { workspace_id: string }[], limit: number): SweepResult {
  return {
    moved: rows.length,
    more: rows.length >= limit,
    byWorkspace: countByWorkspace(rows),
  };
}

/** Joins two passes. */
export function together(one: SweepResult, other: SweepResult): SweepResult {
  const byWorkspace = new Map(one.byWorkspace);
  for (const [id, count] of other.byWorkspace)
    byWorkspace.set(id, (byWorkspace.get(id) ?? 0) + count);
  const findings = [...(one.findings ?? []), ...(other.findings ?? [])];
  return {
    moved: one.moved + other.moved,
    more: one.more || other.more,
    skipped: one.skipped === true || other.skipped === true,
    byWorkspace,
    findings,
  };
}

export function countByWorkspace(rows: readonly { workspace_id: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { workspace_id: id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** Wakes the claims of the workspaces whose tasks became ready. */
export function wakeClaims(wakeUps: WakeUps, rows: readonly { workspace_id: string }[]): void {
  for (const [workspaceId, count] of countByWorkspace(rows)) wakeUps.claims(workspaceId, count);
}
