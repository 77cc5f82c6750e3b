import type { Actor } from '#lib/kernel';
import {
  legalTaskTransitions,
  type LockedTask,
  mayTransition,
  type PausedFor,
  type RunTransition,
  type TaskStatus,
  type Transition,
} from '#lib/transitions/domain';

/** A user's command for a task, decided on its locked row. */
export type CommandDecision =
  | { kind: 'transition'; transition: Transition; pauseRun?: 'now' | 'after_turn' }
  | { kind: 'already' }
  /**
   * It is paused. If the coordinator paused it, it stays paused until somebody resumes it. A run that
   * would pause after its turn pauses now, unless the request also waits for the turn.
   */
  | { kind: 'takes_over_pause'; request: CommandRequest }
  | { kind: 'illegal'; to: TaskStatus; legal: readonly TaskStatus[] };

export interface CommandRequest {
  actor: Actor;
  reason?: string;
  /** The coordinator's cause of the pause or the cancellation. */
  pausedFor?: { what: PausedFor; id: string };
  /** True if a filter or a list selected the task. */
  inBulk?: boolean;
  /** Whether a pause waits for the current turn of a coding agent. */
  afterTurn?: boolean;
}

export const COMMANDS = ['cancel', 'pause', 'resume', 'retry', 'archive'] as const;
export type TaskCommand = (typeof COMMANDS)[number];

/** Pure: the same task and request give the same decision. */
export const DECIDE: Record<
  TaskCommand,
  (task: LockedTask, request: CommandRequest) => CommandDecision
> = {
  cancel: decideCancel,
  pause: decidePause,
  resume: decideResume,
  retry: decideRetry,
  archive: decideArchive,
};

/** The commands that would move the task. */
export function possibleCommands(task: LockedTask, request: CommandRequest): TaskCommand[] {
  return COMMANDS.filter((command) => DECIDE[command](task, request).kind === 'transition');
}

function decideCancel(task: LockedTask, request: CommandRequest): CommandDecision {
  if (task.status === 'ABORTED' && task.retry_at === null) return { kind: 'already' };
  if (!mayTransition(task.status, 'ABORTED')) return illegal(task, 'ABORTED');
  const reason = request.pausedFor?.what === 'budget' ? 'budget_exceeded' : 'cancelled';
  const transition = { ...base(task, request), to: 'ABORTED' as const, reason };
  return { kind: 'transition', transition: { ...transition, run: releasedRun(task, reason) } };
}

function decidePause(task: LockedTask, request: CommandRequest): CommandDecision {
  if (task.status === 'PAUSED') {
    if (request.actor.kind === 'coordinator') return { kind: 'already' };
    if (waitsForPeople(task)) return illegal(task, 'PAUSED');
    return { kind: 'takes_over_pause', request };
  }
  if (!mayTransition(task.status, 'PAUSED')) return illegal(task, 'PAUSED');
  const holdsRun = task.run_id !== null;
  const transition: Transition = {
    ...base(task, request),
    to: 'PAUSED',
    reason: request.reason ?? 'paused',
    pausedFor: request.pausedFor?.what ?? 'request',
    pausedForId: request.pausedFor?.id,
    keepsRun: holdsRun,
  };
  if (!holdsRun) return { kind: 'transition', transition };
  return { kind: 'transition', transition, pauseRun: request.afterTurn ? 'after_turn' : 'now' };
}

function decideResume(task: LockedTask, request: CommandRequest): CommandDecision {
  if (task.status !== 'PAUSED') {
    const underWay =
      task.status === 'PENDING' || task.status === 'ASSIGNED' || task.status === 'RUNNING';
    return underWay ? { kind: 'already' } : illegal(task, 'PENDING');
  }
  if (waitsForPeople(task)) return illegal(task, 'PENDING');
  // A started run still has its session and continues. An unstarted one is released.
  if (task.run_id !== null && task.run_started) {
    return { kind: 'transition', transition: { ...base(task, request), to: 'RUNNING' } };
  }
  const transition: Transition = {
    ...base(task, request),
    to: 'PENDING',
    run: releasedRun(task, 'resumed_elsewhere'),
  };
  return { kind: 'transition', transition };
}

/** Only its answer or its review resumes it: its next run would ask or submit again. */
function waitsForPeople(task: LockedTask): boolean {
  return task.waits_for_answer || task.waits_for_review;
}

function decideRetry(task: LockedTask, request: CommandRequest): CommandDecision {
  if (task.status !== 'FAILED' && task.status !== 'ABORTED') return illegal(task, 'PENDING');
  if (task.may_have_landed === true) return illegal(task, 'PENDING');
  // Its work would be done twice. A person can want that of one task, and not of all that failed.
  if (request.inBulk && task.is_replayed) return { kind: 'already' };
  return {
    kind: 'transition',
    transition: { ...base(task, request), to: 'PENDING', resetsRetries: true },
  };
}

function decideArchive(task: LockedTask, request: CommandRequest): CommandDecision {
  if (task.status === 'ARCHIVED') return { kind: 'already' };
  const waitsForRetry = task.status === 'ABORTED' && task.retry_at !== null;
  if (waitsForRetry || !mayTransition(task.status, 'ARCHIVED')) return illegal(task, 'ARCHIVED');
  return { kind: 'transition', transition: { ...base(task, request), to: 'ARCHIVED' } };
}

function base(task: LockedTask, request: CommandRequest) {
  return {
    workspaceId: task.workspace_id,
    taskId: task.id,
    actor: request.actor,
    message: request.reason,
  };
}

function releasedRun(task: LockedTask, endReason: string): RunTransition | undefined {
  return task.run_id === null ? undefined : { runId: task.run_id, to: 'RELEASED', endReason };
}

function illegal(task: LockedTask, to: TaskStatus): CommandDecision {
  return { kind: 'illegal', to, legal: legalTaskTransitions(task.status) };
}
