import type { TaskStatus } from '#lib/transitions/domain';

/** Which tasks a list shows: those for which everything that is given holds. */
export interface TaskFilter {
  /** One of these. */
  status?: readonly TaskStatus[];
  priority?: number;
  priorityGte?: number;
  priorityLte?: number;
  /** All of these. */
  tags?: readonly string[];
  /** The agent of the live run, or of the last one. */
  agentId?: string;
  projectId?: string;
  /** The task whose run has created it. */
  parentTaskId?: string;
  milestoneId?: string;
  taskType?: string;
  /** Whether it rests until a person answers the question of its last run. */
  waitsForAnswer?: boolean;
  /** Somewhere in the title or the description, in upper or lower case. */
  text?: string;
  /** At this time or later (RFC 3339); the same for the others. */
  createdAfter?: string;
  /** Before this time. */
  createdBefore?: string;
  updatedAfter?: string;
  updatedBefore?: string;
}

/** A part of a list: how many, and from where on. */
export interface PageRequest {
  limit: number;
  cursor?: string;
}
