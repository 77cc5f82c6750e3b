import { OmitType } from '@nestjs/swagger';
import { Flag, IdList, Nested, Text } from '#lib/http';
import type { BulkResult } from '../../commands/bulk-commands.js';
import { ListTasksQuery } from './list-tasks.dto.js';
import { ShownInt } from './shown.js';

export class TaskCommandDto {
  @Text({ max: 1000, optional: true, example: 'Requirements changed' })
  reason?: string;
}

export class CancelTaskDto extends TaskCommandDto {
  @Flag({
    optional: true,
    description: 'Its subtasks, and everything that depends on it, are cancelled with it',
  })
  cascade?: boolean;
}

/** The filters of the list, as JSON: lists are arrays, numbers are numbers. */
export class BulkFilterDto extends OmitType(ListTasksQuery, ['limit', 'cursor'] as const) {}

export class BulkCommandDto extends TaskCommandDto {
  @IdList({ minItems: 1, maxItems: 1000, optional: true })
  ids?: string[];

  @Nested(() => BulkFilterDto, { optional: true })
  filter?: BulkFilterDto;
}

export class BulkResultDto implements BulkResult {
  @ShownInt({ description: 'How many tasks were named or matched' }) matched!: number;
  @ShownInt() changed!: number;
  @ShownInt({ description: 'Tasks that were there already, or that may not go there' })
  skipped!: number;
}
