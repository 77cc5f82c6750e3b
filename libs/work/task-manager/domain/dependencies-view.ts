import type { TaskStatus } from '#lib/transitions/domain';
import type { DependencyPolicy } from './task-view.js';

/** A task at the other end of a dependency. */
export interface NeighbourView {
  taskId: string;
  title: string;
  status: TaskStatus;
  policy: DependencyPolicy;
  /** Whether the end of the prerequisite has been taken account of. */
  settled: boolean;
  settledAt: string | null;
  createdAt: string;
}

/** The prerequisites of a task, and its dependents. */
export interface DependenciesView {
  taskId: string;
  status: TaskStatus;
  /** How many of `dependsOn` still hold the task back. */
  unmetDependencies: number;
  dependsOn: NeighbourView[];
  /** A page of them. */
  blocks: NeighbourView[];
  /** For the next page of `blocks`. */
  nextCursor: string | null;
  /** The version of the task, for If-Match. */
  version: number;
}

export interface GraphTaskView {
  taskId: string;
  title: string;
  status: TaskStatus;
}

export interface GraphEdgeView {
  /** The task that waits. */
  taskId: string;
  dependsOnId: string;
  policy: DependencyPolicy;
  /** Whether the end of the prerequisite has been taken account of. */
  settled: boolean;
}

/** A task with everything that it waits for and that waits for it, directly or through others. */
export interface TaskGraphView {
  taskId: string;
  tasks: GraphTaskView[];
  edges: GraphEdgeView[];
  /** There is more than was asked for. */
  truncated: boolean;
}
