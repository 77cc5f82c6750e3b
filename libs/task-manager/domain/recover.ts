import type { Actor } from '#lib/kernel';
import type { LockedTask } from './locked-task.js';
import type { Move, RunMove } from './move.js';
import { afterFailure, isRetryable, type RetryPolicy } from './failure.js';
import type { AbortReason } from './task-state.js';

/** A run that ended without completing, as somebody saw it. */
export interface Failure {
  reason: AbortReason;
  message: string;
  actor: Actor;
  /** What the agent says about trying again; absent: the reason decides. */
  retryable?: boolean;
  stackTrace?: string;
  exitCode?: number;
  signal?: string;
  checkpointData?: unknown;
}

/** Moves in the order in which they have to be applied; the second needs the first. */
export interface RecoveryPlan {
  first: Move;
  then?: Move;
}

/**
 * What becomes of a task under lease whose run has failed: aborted with a retry to come, or failed.
 *
 * A task that has not started can not go to FAILED directly: it is aborted first, so that the log
 * shows both what happened to the run and that no attempt is left.
 *
 * @param task ASSIGNED or RUNNING, or PAUSED with its run, under lock
 * @param random a number in [0, 1)
 */
export function planRecovery(
  task: LockedTask,
  failure: Failure,
  policy: RetryPolicy,
  random: number,
): RecoveryPlan {
  const attempts = {
    retryCount: task.retry_count,
    maxRetries: task.max_retries,
    retryBackoffSeconds: task.retry_backoff_seconds,
  };
  const next = afterFailure(
    attempts,
    isRetryable(failure.reason, failure.retryable),
    policy,
    random,
  );
  const run = failedRun(task, failure);
  if (next.kind === 'retry') {
    return {
      first: {
        ...abortion(task, failure, run),
        retryAfterSeconds: next.delaySeconds,
        countsAsRetry: true,
      },
    };
  }
  const message =
    next.reason === 'retries_exhausted'
      ? `Max retries exceeded (${task.retry_count}/${task.max_retries}): ${failure.message}`
      : failure.message;
  const failed: Move = {
    ...common(task, failure),
    to: 'FAILED',
    reason: next.reason === 'retries_exhausted' ? 'retries_exhausted' : failure.reason,
    message,
    lastError: message,
  };
  if (task.status === 'ASSIGNED') return { first: abortion(task, failure, run), then: failed };
  return { first: { ...failed, run } };
}

function abortion(task: LockedTask, failure: Failure, run: RunMove | undefined): Move {
  return {
    ...common(task, failure),
    to: 'ABORTED',
    reason: failure.reason,
    message: failure.message,
    lastError: failure.message,
    run,
  };
}

function common(task: LockedTask, failure: Failure) {
  return {
    workspaceId: task.workspace_id,
    taskId: task.id,
    actor: failure.actor,
    level: 'ERROR' as const,
    stackTrace: failure.stackTrace,
    checkpointData: failure.checkpointData,
    details: {
      reason: failure.reason,
      attempt: task.retry_count + 1,
      ...(failure.exitCode === undefined ? {} : { exitCode: failure.exitCode }),
      ...(failure.signal === undefined ? {} : { signal: failure.signal }),
    },
  };
}

function failedRun(task: LockedTask, failure: Failure): RunMove | undefined {
  if (task.run_id === null) return undefined;
  return {
    runId: task.run_id,
    to: 'FAILED',
    endReason: failure.reason,
    error: failure.message,
    errorClass: failure.reason,
    exitCode: failure.exitCode,
    signal: failure.signal,
    stackTrace: failure.stackTrace,
  };
}
