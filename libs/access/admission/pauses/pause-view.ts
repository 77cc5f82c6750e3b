import type { PauseRow } from '../store/pauses.sql.js';

/** A pause, as the API has it. Times are RFC 3339. */
export interface PauseView {
  id: string;
  scope: PauseRow['scope'];
  taskType: string | null;
  reason: string;
  /** user:<id>, or api_key:<id>. */
  pausedBy: string;
  createdAt: string;
  /** When it ends by itself. */
  until: string | null;
  endedAt: string | null;
  /** null in one that has ended: its time was over. */
  endedBy: string | null;
}

/** A pause that has been ended, and what holds nevertheless. */
export interface EndedPauseView extends PauseView {
  /** The other pauses that still hold tasks which it covered; each has to be ended. */
  remaining: string[];
}

export function toPauseView(row: PauseRow): PauseView {
  return {
    id: row.id,
    scope: row.scope,
    taskType: row.task_type,
    reason: row.reason,
    pausedBy: authorOf(row.paused_by, row.paused_by_key),
    createdAt: row.created_at.toISOString(),
    until: row.until?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
    endedBy: row.ended_by && authorOf(row.ended_by, row.ended_by_key),
  };
}

/** As those who pause single tasks are written. */
function authorOf(userId: string, apiKeyId: string | null): string {
  return apiKeyId === null ? `user:${userId}` : `api_key:${apiKeyId}`;
}
