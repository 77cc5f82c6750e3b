import { Flag, Id, Int, OneOf, OneOfList, PageQuery, Text, TextList, Timestamp } from '#lib/http';
import { ID_PREFIX } from '#lib/kernel';
import { LOG_LEVELS, type LogLevel } from '../../domain/log-view.js';
import {
  LISTED_STATUSES,
  type ListedStatus,
  TASK_SORTS,
  type TaskFilter,
  type TaskSort,
} from '../../domain/task-filter.js';

/** All given filters must match. Without filters, all tasks of the workspace are listed. */
export class ListTasksQuery extends PageQuery implements TaskFilter {
  @OneOf(TASK_SORTS, {
    optional: true,
    description:
      'The order: `newest` (default) or `oldest` first, by `priority` (10 first), or the last ' +
      '`updated` first. A cursor belongs to its order.',
  })
  sort?: TaskSort;

  @OneOfList(LISTED_STATUSES, {
    maxItems: LISTED_STATUSES.length,
    optional: true,
    description:
      'Any of these values, repeated or separated by commas. RETRYING: ABORTED tasks that wait ' +
      'for their retry. CANCELLED: ABORTED tasks that somebody cancelled, alone or with another.',
  })
  status?: ListedStatus[];

  @Int(1, 10, { optional: true })
  priority?: number;

  @Int(1, 10, {
    optional: true,
    description: 'Only tasks with at least this priority. `priority>=8` is the same.',
  })
  priorityGte?: number;

  @Int(1, 10, {
    optional: true,
    description: 'Only tasks with at most this priority. `priority<=3` is the same.',
  })
  priorityLte?: number;

  @TextList({
    item: { max: 100 },
    minItems: 1,
    maxItems: 20,
    optional: true,
    description: 'All of these values, repeated or separated by commas.',
  })
  tags?: string[];

  @Id('agents', { optional: true, description: 'The agent of the live run or of the last one.' })
  agentId?: string;

  @Text({
    optional: true,
    max: 50,
    description: 'The kind of the coding agent that the task names.',
  })
  agentKind?: string;

  @Id('agent-tasks', { optional: true, description: 'Only subtasks of this task.' })
  parentTaskId?: string;

  @Flag({
    optional: true,
    description: 'true: only tasks that wait for an answer. false: only tasks that do not.',
  })
  waitsForAnswer?: boolean;

  @Flag({
    optional: true,
    description: 'true: only ready tasks with capabilities that no agent has. false: only others.',
  })
  unclaimable?: boolean;

  @Id('projects', { optional: true })
  projectId?: string;

  @Id('milestones', { optional: true })
  milestoneId?: string;

  @Id('schedules', { optional: true, description: 'Only tasks that this schedule created.' })
  scheduleId?: string;

  @Text({
    max: 36,
    pattern: { regexp: ID_PREFIX, words: 'be at least 4 digits of an id' },
    optional: true,
    example: '0198c0de-7',
    description: 'Only tasks whose id begins with these digits.',
  })
  idPrefix?: string;

  @Flag({
    optional: true,
    description: 'true: only tasks that failed for good, and were neither archived nor replayed.',
  })
  deadLetter?: boolean;

  @Text({ max: 16, optional: true, description: 'Only tasks of this group of the dead letter.' })
  failureFingerprint?: string;

  @Text({ max: 100, optional: true, example: 'development' })
  taskType?: string;

  @Text({
    max: 200,
    optional: true,
    description:
      'Only tasks whose title or description contains this text, in upper or lower case, or ' +
      'whose id begins with it (at least 4 digits).',
  })
  text?: string;

  @Timestamp({ optional: true, description: 'Only results at this time or later.' })
  createdAfter?: string;

  @Timestamp({ optional: true, description: 'Only results before this time.' })
  createdBefore?: string;

  @Timestamp({ optional: true, description: 'Only results at this time or later.' })
  updatedAfter?: string;

  @Timestamp({ optional: true, description: 'Only results before this time.' })
  updatedBefore?: string;
}

export class TaskLogsQuery extends PageQuery {
  @OneOf(LOG_LEVELS, { optional: true, description: 'Only entries of this level and above.' })
  level?: LogLevel;

  @Text({ max: 100, optional: true, example: 'state_transition' })
  event?: string;

  @OneOf(['desc', 'asc'], {
    optional: true,
    description: 'The order; `desc`, the newest first, by default.',
  })
  order?: 'asc' | 'desc';

  @OneOf(['true', 'false'], {
    optional: true,
    description:
      'true: the oldest entries first, up to two seconds ago. `nextCursor` then reads ' +
      'later entries.',
  })
  follow?: 'true' | 'false';
}
