import type { PausedFor, TaskStatus } from '#lib/transitions/domain';
import type { DependencyPolicy } from './task-view.js';

/** A task at the other end of a dependency. */
export interface NeighbourView {
  taskId: string;
  title: string;
  status: TaskStatus;
  policy: DependencyPolicy;
  /** Whether the end of the prerequisite was processed. */
  settled: boolean;
  settledAt: string | null;
  createdAt: string;
}

/** The prerequisites of a task, and its dependents. */
export interface DependenciesView {
  taskId: string;
  status: TaskStatus;
  /** Number of `dependsOn` that still hold the task back. */
  unmetDependencies: number;
  dependsOn: NeighbourView[];
  /** One page. */
  blocks: NeighbourView[];
  /** For the next page of `blocks`. */
  nextCursor: string | null;
  /** The version of the task for If-Match. */
  version: number;
}

export interface GraphTaskView {
  taskId: string;
  title: string;
  status: TaskStatus;
  /** The time of its next retry, if it waits for one. */
  retryAt: string | null;
  abortReason: string | null;
  pausedFor: PausedFor | null;
}

export interface GraphEdgeView {
  /** The dependent task. */
  taskId: string;
  dependsOnId: string;
  policy: DependencyPolicy;
  /** Whether the end of the prerequisite was processed. */
  settled: boolean;
}

/** A task with its direct and indirect prerequisites and dependents. */
export interface TaskGraphView {
  taskId: string;
  tasks: GraphTaskView[];
  edges: GraphEdgeView[];
  /** There are more than requested. */
  truncated: boolean;
}
