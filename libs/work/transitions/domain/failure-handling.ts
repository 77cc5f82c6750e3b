import type { Actor } from '#lib/kernel';
import type { LockedTask } from './locked-task.js';
import type { Transition, RunTransition } from './transition.js';
import { afterFailure, exhaustedError, isRetryable, type RetryPolicy } from './failure.js';
import type { AbortReason } from './task-state.js';

/** A run that ended without completing, as somebody reported it. */
export interface Failure {
  reason: AbortReason;
  message: string;
  actor: Actor;
  /** The agent's own advice on a retry. Without it the reason decides. */
  retryable?: boolean;
  stackTrace?: string;
  exitCode?: number;
  signal?: string;
  checkpointData?: unknown;
}

/**
 * The plan for a task whose run has failed. The transitions must be applied in order, because the
 * second needs the first.
 */
export type FailurePlan =
  | { kind: 'transitions'; workspaceId: string; first: Transition; second?: Transition }
  /** A paused task stays paused and loses only its run. */
  | { kind: 'detach'; workspaceId: string; run: RunTransition; actor: Actor };

/**
 * Plans the consequence of a failed run: a retry, or the end.
 *
 * A task that has not started cannot go to FAILED directly. It is aborted first, so that the log
 * shows both the run's end and that no attempt is left.
 *
 * @param task ASSIGNED or RUNNING, or PAUSED with its run, under lock
 * @param random a number in [0, 1)
 */
export function planFailure(
  task: LockedTask,
  failure: Failure,
  policy: RetryPolicy,
  random: number,
): FailurePlan {
  const workspaceId = task.workspace_id;
  const run = failedRun(task, failure);
  if (task.status === 'PAUSED') return { kind: 'detach', workspaceId, run, actor: failure.actor };
  const attempts = {
    retryCount: task.retry_count,
    maxRetries: task.max_retries,
    // Nothing that time could mend has failed.
    retryBackoffSeconds: failure.reason === 'acceptance_failed' ? 0 : task.retry_backoff_seconds,
    fruitless: fruitlessRuns(task, failure),
  };
  const next = afterFailure(
    attempts,
    isRetryable(failure.reason, failure.retryable),
    policy,
    random,
  );
  if (next.kind === 'retry') {
    const retried = { retryAfterSeconds: next.delaySeconds, countsAsRetry: true };
    return {
      kind: 'transitions',
      workspaceId,
      first: { ...abortion(task, failure, run), ...retried },
    };
  }
  const failed = failing(task, failure, next.reason);
  if (task.status === 'ASSIGNED') {
    const first = abortion(task, failure, run);
    return { kind: 'transitions', workspaceId, first, second: failed };
  }
  return { kind: 'transitions', workspaceId, first: { ...failed, run } };
}

/** A circle is no progress, whatever the agent said in it. */
function fruitlessRuns(task: LockedTask, { reason }: Failure): number | undefined {
  if (task.fruitless_runs === null) return undefined;
  return task.run_progressed === true && reason !== 'stuck' ? 0 : task.fruitless_runs + 1;
}

function failing(
  task: LockedTask,
  failure: Failure,
  why: 'not_retryable' | 'retries_exhausted',
): Transition {
  const failed = { ...common(task, failure), to: 'FAILED' } as const;
  const { message } = failure;
  if (why === 'not_retryable')
    return { ...failed, reason: failure.reason, message, lastError: message };
  const attempts = task.retry_count + 1;
  return {
    ...failed,
    reason: why,
    message: attempts === 1 ? message : `Failed after ${attempts} attempts: ${message}`,
    lastError: exhaustedError({
      retryCount: task.retry_count,
      maxRetries: task.max_retries,
      message,
    }),
  };
}

function abortion(task: LockedTask, failure: Failure, run: RunTransition): Transition {
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

function failedRun(task: LockedTask, failure: Failure): RunTransition {
  return {
    runId: task.run_id as string,
    to: 'FAILED',
    endReason: failure.reason,
    error: failure.message,
    errorClass: failure.reason,
    exitCode: failure.exitCode,
    signal: failure.signal,
    stackTrace: failure.stackTrace,
  };
}
