import { Flag, Id, Int, OneOf, OneOfList, PageQuery, Text, TextList, Timestamp } from '#lib/http';
import { LOG_LEVELS, type LogLevel } from '../../domain/log-view.js';
import type { TaskFilter } from '../../domain/task-filter.js';
import { TASK_STATUSES, type TaskStatus } from '#lib/transitions';

/** Every filter that is given must hold; with none, all tasks of the workspace are listed. */
export class ListTasksQuery extends PageQuery implements TaskFilter {
  @OneOfList(TASK_STATUSES, {
    maxItems: TASK_STATUSES.length,
    optional: true,
    description: 'One of these: repeated, or with commas.',
  })
  status?: TaskStatus[];

  @Int(1, 10, { optional: true })
  priority?: number;

  @Int(1, 10, { optional: true, description: 'At least; `priority>=8` is the same.' })
  priorityGte?: number;

  @Int(1, 10, { optional: true, description: 'At most; `priority<=3` is the same.' })
  priorityLte?: number;

  @TextList({
    item: { max: 100 },
    minItems: 1,
    maxItems: 20,
    optional: true,
    description: 'All of these: repeated, or with commas.',
  })
  tags?: string[];

  @Id({ optional: true, description: 'The agent of the live run, or of the last one.' })
  agentId?: string;

  @Id({ optional: true, description: 'The task whose run has created it.' })
  parentTaskId?: string;

  @Flag({
    optional: true,
    description: 'Those that wait for an answer to their question, or do not',
  })
  waitsForAnswer?: boolean;

  @Id({ optional: true })
  projectId?: string;

  @Id({ optional: true })
  milestoneId?: string;

  @Text({ max: 100, optional: true, example: 'development' })
  taskType?: string;

  @Text({
    max: 200,
    optional: true,
    description: 'Somewhere in the title or the description, in upper or lower case.',
  })
  text?: string;

  @Timestamp({ optional: true, description: 'At this time or later.' })
  createdAfter?: string;

  @Timestamp({ optional: true, description: 'Before this time.' })
  createdBefore?: string;

  @Timestamp({ optional: true, description: 'At this time or later.' })
  updatedAfter?: string;

  @Timestamp({ optional: true, description: 'Before this time.' })
  updatedBefore?: string;
}

export class TaskLogsQuery extends PageQuery {
  @OneOf(LOG_LEVELS, { optional: true, description: 'This level and those above it.' })
  level?: LogLevel;

  @Text({ max: 100, optional: true, example: 'state_transition' })
  event?: string;

  @OneOf(['desc', 'asc'], { optional: true, description: 'desc, the newest first, when left out.' })
  order?: 'asc' | 'desc';

  @OneOf(['true', 'false'], {
    optional: true,
    description:
      'true: the oldest first, up to two seconds ago, and `nextCursor` is good for what comes after.',
  })
  follow?: 'true' | 'false';
}
