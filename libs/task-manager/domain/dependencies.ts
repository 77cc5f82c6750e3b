import { DroverError } from '#lib/kernel';
import type { DependencyPolicy } from './task-view.js';

/** Tasks that one task may wait for at most. */
export const MAX_DEPENDENCIES = 1_000;

/** What a client asks one task to wait for. */
export interface Wanted {
  taskId: string;
  policy: DependencyPolicy;
}

/** How a prerequisite stands when an edge to it is written. */
export interface PrerequisiteEnd {
  completed: boolean;
  ended_without_success: boolean;
}

/**
 * Whether a new edge holds nothing back from the start: its prerequisite is completed, or has ended
 * otherwise and the policy does not care.
 */
export function isSettledAtOnce(end: PrerequisiteEnd, policy: DependencyPolicy): boolean {
  return end.completed || (end.ended_without_success && policy === 'ignore');
}

/** @throws DroverError `task_not_found`, with each unknown id and the field that named it */
export function requireKnown(
  found: { has(id: string): boolean },
  wanted: readonly Wanted[],
  field = 'dependsOn',
): void {
  const errors = wanted.flatMap(({ taskId }, index) =>
    found.has(taskId) ? [] : [{ field: `${field}[${index}]`, message: `names no task: ${taskId}` }],
  );
  if (errors.length === 0) return;
  throw new DroverError('task_not_found', {
    detail: 'A dependency names a task that is not in this workspace.',
    errors: errors.slice(0, 50),
  });
}
