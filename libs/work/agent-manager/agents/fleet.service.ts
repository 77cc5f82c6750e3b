import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { type Caller, toPage } from '#lib/kernel';
import { offlineReason, type Slot, type SlotMetadata } from '../domain/slot.js';
import { listSlots, type SlotRow } from './list-slots.sql.js';
import { nameKeyIn } from './name-cursor.js';

export interface Fleet {
  /** By slot. */
  workers: Record<string, Slot>;
  nextCursor: string | null;
}

/** The agents of a workspace as worker slots. */
@Injectable()
export class FleetService {
  constructor(private readonly database: Database) {}

  /** @throws DroverError `malformed_cursor` */
  async read(
    { workspaceId }: Caller,
    { limit, cursor }: { limit: number; cursor?: string },
  ): Promise<Fleet> {
    const [name = null, id = null] = nameKeyIn(cursor) ?? [];
    const params = [workspaceId, name, id, limit + 1];
    const rows = await this.database.tenant(workspaceId).rows(listSlots, params);
    const { items, nextCursor } = toPage(rows, limit, (row) => [row.name, row.id], toSlot);
    return { workers: Object.fromEntries(items.map((slot) => [slot.slot, slot])), nextCursor };
  }
}

function toSlot(row: SlotRow): Slot {
  const reason = offlineReason(row.status, row.is_unresponsive, row.termination_reason);
  const works = reason === undefined && row.run_id !== null;
  return {
    slot: row.is_namesake ? row.id : row.name,
    status: reason === undefined ? (works ? 'working' : 'idle') : 'offline',
    task: works ? row.task_id : null,
    taskTitle: works ? row.task_title : null,
    sessionId: works ? (row.session_key ?? row.run_id) : null,
    lastUpdate: row.seen_at.getTime(),
    startedAt: row.created_at.getTime(),
    metadata: metadataOf(row, reason),
  };
}

/** The registration counts, then the heartbeat. */
function metadataOf(row: SlotRow, reason: string | undefined): SlotMetadata {
  const { workerPid, workerVersion, restartCount } = row.metadata ?? {};
  const pid = row.pid ?? numberIn(workerPid);
  return {
    workerPid: reason === undefined ? pid : null,
    workerVersion: row.agent_version ?? (typeof workerVersion === 'string' ? workerVersion : null),
    restartCount: row.restart_count || (numberIn(restartCount) ?? 0),
    ...(reason === undefined && row.run_since && { taskStartedAt: row.run_since.getTime() }),
    ...(reason !== undefined && { offlineReason: reason }),
  };
}

function numberIn(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}
