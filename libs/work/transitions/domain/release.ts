import type { Actor } from '#lib/kernel';
import type { RetryPolicy } from './failure.js';
import type { LockedTask } from './locked-task.js';
import type { Transition, RunTransition } from './transition.js';
import { planFailure, type FailurePlan } from './failure-handling.js';

export interface Release {
  actor: Actor;
  reason: string;
  /** For the task's log. Default: the reason. */
  message?: string;
  /**
   * Seconds until the task is handed out again. Absent means at once. A paused task waits only for
   * its resumption.
   */
  retryAfterSeconds?: number;
}

/** The plan for a task whose run is released. */
export type ReleasePlan =
  | { kind: 'transition'; transition: Transition }
  | { kind: 'detach'; workspaceId: string; run: RunTransition; actor: Actor };

/**
 * A task that had not started returns to the queue. A started one is aborted and retried at once at
 * no attempt. A paused one stays paused.
 *
 * A run that its own side releases after its deadline has timed out. If that were free, a process
 * that answers its deadline with a release would run forever.
 *
 * @param random a number in [0, 1), for the delay of a retry after a timeout
 */
export function planRelease(
  task: LockedTask,
  release: Release,
  policy: RetryPolicy,
  random: number,
): ReleasePlan | FailurePlan {
  if (isTimeOut(task, release.actor)) {
    const message = `Released after it had run longer than its timeout: ${release.reason}`;
    const failure = { reason: 'timeout', message, actor: release.actor } as const;
    return planFailure(task, failure, policy, random);
  }
  return planFreeRelease(task, release);
}

/** A draining gateway reports timeouts as such, so its other releases are none. */
function isTimeOut(task: LockedTask, { kind }: Actor): boolean {
  if (task.status === 'PAUSED' || task.past_deadline !== true) return false;
  return kind === 'run' || kind === 'agent';
}

/** The same for a release that is no timeout. */
export function planFreeRelease(task: LockedTask, release: Release): ReleasePlan {
  const runId = task.run_id as string;
  const { actor, retryAfterSeconds = 0 } = release;
  const run: RunTransition = { runId, to: 'RELEASED', endReason: release.reason };
  const workspaceId = task.workspace_id;
  const common = {
    workspaceId,
    taskId: task.id,
    actor,
    message: release.message ?? release.reason,
    run,
  };
  if (task.status === 'PAUSED') return { kind: 'detach', workspaceId, run, actor };
  if (task.status === 'ASSIGNED' && retryAfterSeconds === 0) {
    return { kind: 'transition', transition: { ...common, to: 'PENDING' } };
  }
  const again = { reason: 'released', retryAfterSeconds };
  return { kind: 'transition', transition: { ...common, to: 'ABORTED', ...again } };
}
