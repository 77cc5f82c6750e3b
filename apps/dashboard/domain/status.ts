import type { components } from '#lib/api-client';

export type Task = components['schemas']['Task'];
export type TaskStatus = Task['status'];
export type Agent = components['schemas']['Agent'];
export type Run = components['schemas']['Run'];

/** A kind of ABORTED that people look for, as the filter `status` of the API has it. */
export type ListedStatus = TaskStatus | 'RETRYING' | 'CANCELLED';

export const LISTED_STATUSES: ListedStatus[] = [
  'PENDING',
  'ASSIGNED',
  'RUNNING',
  'PAUSED',
  'RETRYING',
  'FAILED',
  'ABORTED',
  'CANCELLED',
  'COMPLETED',
  'ARCHIVED',
];

/** Colours of styles/parts.css. */
export type Tone = 'gray' | 'violet' | 'blue' | 'amber' | 'orange' | 'red' | 'green';

/** Each status has a shape beside its colour, for users who see no colours. */
export type Shape = 'ring' | 'half' | 'full' | 'bars' | 'cross' | 'check' | 'dash';

export const LOOKS: Record<string, { tone: Tone; shape: Shape }> = {
  PENDING: { tone: 'gray', shape: 'ring' },
  ASSIGNED: { tone: 'violet', shape: 'half' },
  RUNNING: { tone: 'blue', shape: 'full' },
  PAUSED: { tone: 'amber', shape: 'bars' },
  ABORTED: { tone: 'orange', shape: 'cross' },
  FAILED: { tone: 'red', shape: 'cross' },
  COMPLETED: { tone: 'green', shape: 'check' },
  ARCHIVED: { tone: 'gray', shape: 'dash' },
  RETRYING: { tone: 'amber', shape: 'half' },
  CANCELLED: { tone: 'gray', shape: 'cross' },
  // Agents
  STARTING: { tone: 'violet', shape: 'half' },
  IDLE: { tone: 'gray', shape: 'ring' },
  WORKING: { tone: 'blue', shape: 'full' },
  DRAINING: { tone: 'amber', shape: 'half' },
  ERROR: { tone: 'red', shape: 'cross' },
  TERMINATED: { tone: 'gray', shape: 'dash' },
  // Changes
  PROVING: { tone: 'blue', shape: 'half' },
  IN_REVIEW: { tone: 'violet', shape: 'half' },
  APPROVED: { tone: 'green', shape: 'half' },
  MERGED: { tone: 'green', shape: 'check' },
  CLOSED: { tone: 'gray', shape: 'dash' },
  // Merge queues
  merging: { tone: 'blue', shape: 'full' },
  queued: { tone: 'gray', shape: 'ring' },
  blocked: { tone: 'amber', shape: 'bars' },
  stopped: { tone: 'red', shape: 'cross' },
  // Runs
  STALE: { tone: 'amber', shape: 'half' },
  RELEASED: { tone: 'gray', shape: 'dash' },
  // Reviews of changes
  green: { tone: 'green', shape: 'check' },
  red: { tone: 'red', shape: 'cross' },
  approved: { tone: 'green', shape: 'check' },
  changes_requested: { tone: 'amber', shape: 'half' },
  commented: { tone: 'gray', shape: 'ring' },
  conflict: { tone: 'orange', shape: 'cross' },
  // Deliveries
  pending: { tone: 'gray', shape: 'ring' },
  delivered: { tone: 'green', shape: 'check' },
  dead: { tone: 'red', shape: 'cross' },
  // Log levels
  WARN: { tone: 'amber', shape: 'half' },
  CRITICAL: { tone: 'red', shape: 'cross' },
  INFO: { tone: 'gray', shape: 'ring' },
  // Budget projections
  CONTINUE: { tone: 'green', shape: 'check' },
  THROTTLE: { tone: 'amber', shape: 'half' },
  PAUSE: { tone: 'red', shape: 'bars' },
};

export type TaskCommand = 'pause' | 'resume' | 'cancel' | 'retry' | 'archive';

export type Standing = Pick<Task, 'status' | 'retryAt'> &
  Partial<Pick<Task, 'pausedFor' | 'abortReason'>>;

/** The reasons of an abort that somebody wanted. */
const CANCELLATIONS = ['cancelled', 'dependency_cancelled'];

/** The status as a list shows it. */
export function listedStatus({ status, retryAt, abortReason }: Standing): ListedStatus {
  if (status !== 'ABORTED') return status;
  if (retryAt !== null) return 'RETRYING';
  return CANCELLATIONS.includes(abortReason ?? '') ? 'CANCELLED' : status;
}

/** Whether a run of it has asked people, and its answer alone lets it go on. */
export function waitsForAnswer({ status, pausedFor }: Standing): boolean {
  return status === 'PAUSED' && pausedFor === 'question';
}

/** A host proves or merges the task's change, or somebody reviews it. */
export function waitsForReview({ status, pausedFor }: Standing): boolean {
  return status === 'PAUSED' && pausedFor === 'review';
}

/** Its fields no longer change, except notes. */
export const isClosed = ({ status }: Standing) => status === 'COMPLETED' || status === 'ARCHIVED';

/** It may be in the dead letter, as far as a list tells. */
export const mayBeDead = ({ status, retryAt }: Standing) =>
  status === 'FAILED' || (status === 'ABORTED' && retryAt === null);

/** Lists the commands that the server accepts now from a user who can change tasks. */
export function allowedCommands(task: Standing): TaskCommand[] {
  const waitsForRetry = task.status === 'ABORTED' && task.retryAt !== null;
  switch (task.status) {
    case 'PENDING':
    case 'ASSIGNED':
    case 'RUNNING':
      return ['pause', 'cancel'];
    case 'PAUSED':
      return waitsForAnswer(task) || waitsForReview(task) ? ['cancel'] : ['resume', 'cancel'];
    case 'ABORTED':
      return waitsForRetry ? ['retry', 'cancel'] : ['retry', 'archive'];
    case 'FAILED':
      return ['retry', 'archive'];
    case 'COMPLETED':
      return ['archive'];
    case 'ARCHIVED':
      return [];
  }
}

/** The statuses of agents that are not terminated. */
export const AGENTS_IN_FLEET = ['WORKING', 'IDLE', 'STARTING', 'DRAINING', 'ERROR'] as const;

/** The words for the status of an agent. One that was only registered is not known to be idle. */
export function agentWord({ status, mode, hasSentHeartbeat }: Agent): string | undefined {
  const isIdle = status === 'IDLE' || status === 'STARTING';
  return isIdle && mode === 'pull' && !hasSentHeartbeat ? 'No heartbeat yet' : undefined;
}
