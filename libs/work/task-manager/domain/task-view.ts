import type { AgentTask, Row, TaskRun } from '#lib/database';
import type { Sent } from '#lib/kernel';
import type { RunState, TaskStatus } from '#lib/transitions/domain';
import type { HiddenField } from './task-fields.js';

/** The fields of a run that only the statements know. */
export const HIDDEN_OF_RUNS = [
  'workspaceId',
  'endedBy',
  'conflictSeenAt',
  'conflictToldAt',
] as const;

export type DependencyPolicy = 'block' | 'fail' | 'ignore';

export const DEPENDENCY_POLICIES: readonly DependencyPolicy[] = ['block', 'fail', 'ignore'];

/** One task that another waits for. */
export interface DependencyView {
  /** The task that must complete first. */
  taskId: string;
  policy: DependencyPolicy;
  /** Whether its end has been taken account of, so that it no longer holds the task back. */
  settled: boolean;
}

/** A task as it is read to be shown: the columns, and what other tables know of it. */
export interface TaskRow extends Omit<Row<AgentTask>, HiddenField | 'status'> {
  status: TaskStatus;
  tags: string[];
  /** The tasks that must complete first. */
  dependsOn: string[];
  /** Up to 1,000 of the tasks that wait for this one. */
  blocks: string[];
  /** Only where one task is asked for. */
  dependencies?: DependencyView[];
}

/** A task as the API shows it. TaskDto says what its fields mean. */
export type TaskView = Sent<TaskRow>;

/** A run as it is read to be shown. */
export interface RunRow extends Omit<Row<TaskRun>, (typeof HIDDEN_OF_RUNS)[number] | 'state'> {
  state: RunState;
}

/** One attempt of a task by one agent, as the API shows it. RunDto says what its fields mean. */
export type RunView = Sent<RunRow>;
