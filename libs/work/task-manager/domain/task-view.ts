import type { AgentTask, Row, TaskRun } from '#lib/database';
import type { Sent } from '#lib/kernel';
import type { RunState, TaskStatus } from '#lib/transitions/domain';
import type { HiddenField } from './task-fields.js';

/** The fields of a run that only statements know. */
export const HIDDEN_OF_RUNS = [
  'workspaceId',
  'endedBy',
  'conflictSeenAt',
  'conflictToldAt',
  'requestHolds',
  'wantedTokens',
] as const;

export type DependencyPolicy = 'block' | 'fail' | 'ignore';

export const DEPENDENCY_POLICIES: readonly DependencyPolicy[] = ['block', 'fail', 'ignore'];

/** One prerequisite of a task. */
export interface DependencyView {
  /** The task that must complete first. */
  taskId: string;
  policy: DependencyPolicy;
  /** Whether its end was processed, so that it no longer holds the task back. */
  settled: boolean;
}

/** A task as read for an answer: its columns, and the data of other tables. */
export interface TaskRow extends Omit<Row<AgentTask>, HiddenField | 'status'> {
  status: TaskStatus;
  tags: string[];
  /** The tasks that must complete first. */
  dependsOn: string[];
  /** Up to 1,000 of its dependents. */
  blocks: string[];
  /** Only in the answer with a single task. */
  dependencies?: DependencyView[];
}

/** A task in the API. TaskDto describes its fields. */
export type TaskView = Sent<TaskRow>;

/** A run as read for an answer. */
export interface RunRow extends Omit<Row<TaskRun>, (typeof HIDDEN_OF_RUNS)[number] | 'state'> {
  state: RunState;
}

/** One attempt of a task by one agent in the API. RunDto describes its fields. */
export type RunView = Sent<RunRow>;
