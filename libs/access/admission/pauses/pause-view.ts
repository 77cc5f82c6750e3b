import type { PauseRow } from './pauses.sql.js';

/** A pause in the API. Times are RFC 3339. */
export interface PauseView {
  id: string;
  scope: PauseRow['scope'];
  taskType: string | null;
  reason: string;
  /** user:<id> or api_key:<id>. */
  pausedBy: string;
  /** It also ends the live runs of its tasks. */
  endRuns: boolean;
  createdAt: string;
  /** The time at which it ends by itself. */
  until: string | null;
  endedAt: string | null;
  /** Null if it ended by its time. */
  endedBy: string | null;
}

/** An ended pause with the pauses that still apply. */
export interface EndedPauseView extends PauseView {
  /** Other pauses that still hold tasks of this one. Each must be ended separately. */
  remaining: string[];
}

export function toPauseView(row: PauseRow): PauseView {
  return {
    id: row.id,
    scope: row.scope,
    taskType: row.task_type,
    reason: row.reason,
    pausedBy: authorOf(row.paused_by, row.paused_by_key),
    endRuns: row.ends_runs,
    createdAt: row.created_at.toISOString(),
    until: row.until?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
    endedBy: row.ended_by && authorOf(row.ended_by, row.ended_by_key),
  };
}

/** The same form as the authors of paused tasks. */
function authorOf(userId: string, apiKeyId: string | null): string {
  return apiKeyId === null ? `user:${userId}` : `api_key:${apiKeyId}`;
}
