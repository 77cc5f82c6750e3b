import { TASK_STATUSES, type TaskStatus } from '#lib/transitions/domain';

/** Kinds of ABORTED that people look for: it waits for its retry, or somebody cancelled it. */
const KINDS_OF_ABORTED = ['RETRYING', 'CANCELLED'] as const;
export type KindOfAborted = (typeof KINDS_OF_ABORTED)[number];

/** The values of the filter `status`. */
export const LISTED_STATUSES = [...TASK_STATUSES, ...KINDS_OF_ABORTED] as const;
export type ListedStatus = (typeof LISTED_STATUSES)[number];

export const isTaskStatus = (status: ListedStatus): status is TaskStatus =>
  TASK_STATUSES.includes(status as TaskStatus);

/** The filters of a list of tasks. All given filters must match. */
export interface TaskFilter {
  /** One of these. */
  status?: readonly ListedStatus[];
  priority?: number;
  priorityGte?: number;
  priorityLte?: number;
  /** All of these. */
  tags?: readonly string[];
  /** The agent of the live run, or of the last one. */
  agentId?: string;
  /** The kind of the coding agent that the task names. */
  agentKind?: string;
  projectId?: string;
  /** The task whose run created it. */
  parentTaskId?: string;
  milestoneId?: string;
  /** The schedule that created it, also if the schedule is deleted. */
  scheduleId?: string;
  /** The first digits of its id, with or without hyphens. */
  idPrefix?: string;
  taskType?: string;
  /** Whether it waits for the answer to a question of its last run. */
  waitsForAnswer?: boolean;
  /** Whether it is ready, and requires capabilities that no agent has. */
  unclaimable?: boolean;
  /** Whether it failed for good, and was neither archived nor replayed. */
  deadLetter?: boolean;
  /** The group of the dead letter. */
  failureFingerprint?: string;
  /** A part of the title or the description, in upper or lower case, or the first digits of its id. */
  text?: string;
  /** Inclusive (RFC 3339), like the other lower bounds. */
  createdAfter?: string;
  /** Exclusive. */
  createdBefore?: string;
  updatedAfter?: string;
  updatedBefore?: string;
}

/** A part of a list: page size and position. */
export interface PageRequest {
  limit: number;
  cursor?: string;
  /** Default: newest. */
  sort?: TaskSort;
}

/** The orders of a list: by creation, by priority (10 first), by the last change. */
export const TASK_SORTS = ['newest', 'oldest', 'priority', 'updated'] as const;
export type TaskSort = (typeof TASK_SORTS)[number];
