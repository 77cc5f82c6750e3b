import { ApiProperty } from '@nestjs/swagger';
import { IdList, Int, JsonObject, Nested } from '#lib/http';
import type {
  DeadLetterGroup,
  ReplayRequest,
  ReplayResult,
  Skip,
} from '../../dead-letter/dead-letter.js';
import { BulkFilterDto } from './command.dto.js';
import { ShownId, ShownInt, ShownText, ShownTextOrNull, ShownTexts, ShownTime } from './shown.js';

export class DeadLetterGroupDto implements DeadLetterGroup {
  @ShownText({ description: 'The id of the group, for the filter failureFingerprint' })
  fingerprint!: string;
  @ShownInt({ description: 'The number of tasks' }) count!: number;
  @ShownText() taskType!: string;
  @ShownTextOrNull({ description: 'failureReason or abortReason of the tasks' })
  reason!: string | null;
  @ShownTextOrNull({ description: 'The last error of the newest task' }) error!: string | null;
  @ShownId({ description: 'The newest task' }) newestTaskId!: string;
  @ShownText() newestTitle!: string;
  @ShownTime() newestFailedAt!: string;
}

export class DeadLetterGroupPageDto {
  @ApiProperty({ type: [DeadLetterGroupDto] }) items!: DeadLetterGroupDto[];
  @ShownTextOrNull() nextCursor!: string | null;
}

export class ReplayDto implements ReplayRequest {
  @IdList('agent-tasks', { minItems: 1, maxItems: 1000, optional: true })
  ids?: string[];

  @Nested(() => BulkFilterDto, {
    optional: true,
    description: 'Only tasks of the dead letter that match; `{"deadLetter": true}` means all.',
  })
  filter?: BulkFilterDto;

  @JsonObject({
    optional: true,
    description: 'Replaces these keys of the inputContext of each task.',
  })
  inputContext?: Record<string, unknown>;

  @Int(1, 60_000, {
    optional: true,
    description:
      'The maximum number of replays of this request that start in a minute; all at once by ' +
      'default. A repetition after 429 counts from its own time.',
  })
  perMinute?: number;
}

export class SkipDto implements Skip {
  @ShownText({
    description:
      'The reason: `not_in_dead_letter`, the code of the error that refused the new task, or ' +
      '`dependency_failed`: it would fail because of a task that ended without success',
  })
  code!: string;
  @ShownInt({ description: 'The number of tasks' }) count!: number;
}

export class ReplayResultDto implements ReplayResult {
  @ShownInt({ description: 'The number of tasks that the ids name or the filter matches' })
  matched!: number;
  @ShownInt({ description: 'The number of new tasks' }) replayed!: number;
  @ShownInt({ description: 'The number of tasks without a new task' }) skipped!: number;
  @ApiProperty({ type: [SkipDto], description: 'The reasons to skip tasks' }) skips!: SkipDto[];
  @ShownTexts({ description: 'The ids of the new tasks, at most 1,000' }) ids!: string[];
}
