import { stripControls } from './format.js';
import type { Task } from './status.js';

/** The fields that a row shows. Other fields can have 1 MiB, too much for thousands of rows. */
export interface TaskRow extends Pick<
  Task,
  | 'id'
  | 'title'
  | 'taskType'
  | 'status'
  | 'priority'
  | 'progressPercent'
  | 'tags'
  | 'createdAt'
  | 'updatedAt'
  | 'version'
  | 'retryAt'
  | 'pausedFor'
  | 'abortReason'
  | 'agentId'
  | 'startedAt'
> {
  /** The time at which its last run ended. Null while the task waits or runs. */
  endedAt: string | null;
}

export function toRow(task: Task): TaskRow {
  const { id, taskType, status, priority, progressPercent, tags, agentId, startedAt } = task;
  const { createdAt, updatedAt, version, retryAt, pausedFor, abortReason } = task;
  return {
    id,
    title: stripControls(task.title),
    taskType,
    status,
    priority,
    progressPercent,
    tags,
    createdAt,
    updatedAt,
    version,
    retryAt,
    pausedFor,
    abortReason,
    agentId,
    startedAt,
    // A task that fails after its last retry was aborted before.
    endedAt: task.completedAt ?? task.abortedAt ?? task.failedAt,
  };
}

/** The seconds since the start of the last run, at most until its end. Null before a start. */
export function durationOf({ startedAt, endedAt }: TaskRow, now: number): number | null {
  if (startedAt === null) return null;
  const end = endedAt === null ? now : Date.parse(endedAt);
  return Math.max(0, end - Date.parse(startedAt)) / 1000;
}

/** The row after an event of its task. Events from before the row do not change it. */
export function applyEvent(row: TaskRow, data: Record<string, unknown>): TaskRow {
  const { version, progressPercent, retryAt, newStatus } = data;
  if (typeof version === 'number' && version < row.version) return row;
  return {
    ...row,
    ...(typeof progressPercent === 'number' && { progressPercent }),
    ...((typeof retryAt === 'string' || retryAt === null) && { retryAt }),
    ...(typeof newStatus === 'string' && ofStatus(row, newStatus as Task['status'], data)),
    ...(typeof version === 'number' && { version }),
  };
}

/** The fields that a transition changes, as the server writes them. */
function ofStatus(
  row: TaskRow,
  status: Task['status'],
  data: Record<string, unknown>,
): Partial<TaskRow> {
  const at = String(data['timestamp']);
  switch (status) {
    case 'PENDING':
      return { status, agentId: null, startedAt: null, endedAt: null };
    case 'ASSIGNED':
      return { status, agentId: toText(data['agentId']) };
    case 'RUNNING': {
      const isFirst = data['previousStatus'] === 'ASSIGNED' || row.startedAt === null;
      return {
        status,
        agentId: toText(data['agentId']) ?? row.agentId,
        startedAt: isFirst ? at : row.startedAt,
      };
    }
    case 'ABORTED':
      return { status, agentId: null, abortReason: toText(data['reason']), endedAt: at };
    case 'COMPLETED':
    case 'FAILED':
      return { status, endedAt: row.endedAt ?? at };
    default:
      return { status };
  }
}

const toText = (value: unknown) => (typeof value === 'string' ? value : null);
