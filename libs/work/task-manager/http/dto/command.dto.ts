import { OmitType } from '@nestjs/swagger';
import { Flag, WholeId, IdList, Int, Nested, Text } from '#lib/http';
import type { BulkResult } from '../../commands/bulk-commands.js';
import { ListTasksQuery } from './list-tasks.dto.js';
import { ShownInt } from './shown.js';

export class TaskCommandDto {
  @Text({ max: 1000, optional: true, example: 'Requirements changed' })
  reason?: string;
}

export class PauseTaskDto extends TaskCommandDto {
  @Flag({
    optional: true,
    description:
      'Whether a coding agent ends its current turn first. Other agents have no turns, and pause ' +
      'at once.',
  })
  afterTurn?: boolean;
}

export class CancelTaskDto extends TaskCommandDto {
  @Flag({
    optional: true,
    description: 'Whether to cancel its subtasks and all tasks that depend on it, too',
  })
  cascade?: boolean;
}

export class ContinueTaskDto {
  @Text({
    max: 64_000,
    example: 'Now add a test for week 53.',
    description: 'The instructions for the agent',
  })
  text!: string;

  @Text({
    max: 255,
    optional: true,
    description: 'The title of the new task. By default, the beginning of the text',
  })
  title?: string;

  @WholeId({
    optional: true,
    description: 'The id of attachments, in place of those of the finished task',
  })
  attachments?: string;
}

/** The filters of the list as JSON: lists are arrays, numbers are numbers. */
export class BulkFilterDto extends OmitType(ListTasksQuery, [
  'limit',
  'cursor',
  // It selects nothing, so a filter with it alone would match every task.
  'sort',
] as const) {}

export class BulkCommandDto extends TaskCommandDto {
  @IdList('agent-tasks', { minItems: 1, maxItems: 1000, optional: true })
  ids?: string[];

  @Nested(() => BulkFilterDto, { optional: true })
  filter?: BulkFilterDto;
}

export class BulkPriorityDto {
  @IdList('agent-tasks', { minItems: 1, maxItems: 1000 })
  ids!: string[];

  @Int(1, 10, { description: 'The new priority; 10 runs first' })
  priority!: number;
}

export class BulkResultDto implements BulkResult {
  @ShownInt({ description: 'The number of tasks that the ids name or the filter matches' })
  matched!: number;
  @ShownInt() changed!: number;
  @ShownInt({
    description:
      'The number of tasks that were in this state already or cannot reach it. A retry also skips ' +
      'tasks that were replayed.',
  })
  skipped!: number;
}
