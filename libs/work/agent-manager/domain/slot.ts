import type { AgentStatus } from '#lib/transitions/domain';

export const SLOT_STATUSES = ['idle', 'working', 'offline'] as const;
export type SlotStatus = (typeof SLOT_STATUSES)[number];

/** Facts of a worker's process. Times are milliseconds since 1970. */
export interface SlotMetadata {
  /** Null if it is offline. */
  workerPid: number | null;
  workerVersion: string | null;
  /** The number of earlier starts. */
  restartCount: number;
  taskStartedAt?: number;
  offlineReason?: string;
}

/** An agent as a worker slot. Times are milliseconds since 1970. */
export interface Slot {
  /** The name of the agent, or its id if another agent has the name. */
  slot: string;
  status: SlotStatus;
  /** The id of the task that it has had for the longest time. */
  task: string | null;
  taskTitle: string | null;
  /** The session's key, or the run's id if the session has none. */
  sessionId: string | null;
  lastUpdate: number;
  startedAt: number;
  metadata: SlotMetadata;
}

/** The reason of a worker that drained. */
const GRACEFUL = 'graceful-shutdown';
/** The reason of a worker whose heartbeats are overdue. */
const STALE = 'stale-heartbeat';

/** @returns undefined if the agent is online */
export function offlineReason(
  status: AgentStatus,
  isUnresponsive: boolean,
  terminationReason: string | null,
): string | undefined {
  if (status === 'TERMINATED') {
    return terminationReason === null || terminationReason === 'drained'
      ? GRACEFUL
      : terminationReason;
  }
  return status === 'ERROR' || isUnresponsive ? STALE : undefined;
}
