import type { Actor } from '#lib/kernel';
import type { RetryPolicy } from './failure.js';
import type { LockedTask } from './locked-task.js';
import type { Transition, RunTransition } from './transition.js';
import { planFailure, type FailurePlan } from './failure-handling.js';

export interface Release {
  actor: Actor;
  reason: string;
  /** For the log of the task; absent: the reason. */
  message?: string;
  /** How long the task is not handed out again; absent: not at all. A paused one waits for its resumption alone. */
  retryAfterSeconds?: number;
}

/** The plan for a task whose run is given back. */
export type ReleasePlan =
  | { kind: 'transition'; transition: Transition }
  | { kind: 'detach'; workspaceId: string; run: RunTransition };

/**
 * A task that had not started goes back to the queue; one that had is aborted and retried at once,
 * without its counting as a failed attempt; a paused one stays paused.
 *
 * A run that its own side gives back after its deadline has timed out: were that free, a process that
 * answers the end of its time with a release would run forever, whatever its task's limits say.
 *
 * @param random a number in [0, 1), for the wait before the retry of one that has timed out
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

/** A gateway that drains tells what it has done, and what it has not: it reports time-outs as such. */
function isTimeOut(task: LockedTask, { kind }: Actor): boolean {
  if (task.status === 'PAUSED' || task.past_deadline !== true) return false;
  return kind === 'run' || kind === 'agent';
}

/** The same, when the end is nobody's time-out. */
export function planFreeRelease(task: LockedTask, release: Release): ReleasePlan {
  const runId = task.run_id as string;
  const { retryAfterSeconds = 0 } = release;
  const run: RunTransition = { runId, to: 'RELEASED', endReason: release.reason };
  const common = {
    workspaceId: task.workspace_id,
    taskId: task.id,
    actor: release.actor,
    message: release.message ?? release.reason,
    run,
  };
  if (task.status === 'PAUSED') return { kind: 'detach', workspaceId: task.workspace_id, run };
  if (task.status === 'ASSIGNED' && retryAfterSeconds === 0) {
    return { kind: 'transition', transition: { ...common, to: 'PENDING' } };
  }
  const again = { reason: 'released', retryAfterSeconds };
  return { kind: 'transition', transition: { ...common, to: 'ABORTED', ...again } };
}
