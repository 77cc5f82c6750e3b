import type { Actor } from '#lib/kernel';
import type { LockedTask } from './locked-task.js';
import type { Move, RunMove } from './move.js';

export interface Release {
  actor: Actor;
  reason: string;
}

/** What becomes of a task whose run is given back. */
export type ReleasePlan =
  { kind: 'move'; move: Move } | { kind: 'let_go'; workspaceId: string; run: RunMove };

/**
 * A task that had not started goes back to the queue; one that had is aborted and retried at once,
 * without its counting as a failed attempt; a paused one stays paused.
 */
export function planRelease(task: LockedTask, release: Release): ReleasePlan {
  const runId = task.run_id as string;
  const run: RunMove = { runId, to: 'RELEASED', endReason: release.reason };
  const common = {
    workspaceId: task.workspace_id,
    taskId: task.id,
    actor: release.actor,
    message: release.reason,
    run,
  };
  switch (task.status) {
    case 'PAUSED':
      return { kind: 'let_go', workspaceId: task.workspace_id, run };
    case 'ASSIGNED':
      return { kind: 'move', move: { ...common, to: 'PENDING' } };
    default:
      return {
        kind: 'move',
        move: { ...common, to: 'ABORTED', reason: 'released', retryAfterSeconds: 0 },
      };
  }
}
