import type { PauseRow } from '../store/pauses.sql.js';

/** A pause, as the API has it. Times are RFC 3339. */
export interface PauseView {
  id: string;
  scope: PauseRow['scope'];
  taskType: string | null;
  reason: string;
  /** The user; for an API key the one who made it. */
  pausedBy: string;
  createdAt: string;
  /** When it ends by itself. */
  until: string | null;
  endedAt: string | null;
  /** null in one that has ended: its time was over. */
  endedBy: string | null;
}

export function toPauseView(row: PauseRow): PauseView {
  return {
    id: row.id,
    scope: row.scope,
    taskType: row.task_type,
    reason: row.reason,
    pausedBy: row.paused_by,
    createdAt: row.created_at.toISOString(),
    until: row.until?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
    endedBy: row.ended_by,
  };
}
