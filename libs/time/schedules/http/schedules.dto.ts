import { ApiProperty, type ApiPropertyOptions, OmitType } from '@nestjs/swagger';
import { Int, NestedList, OneOf, PageQuery, Text, TimeZone } from '#lib/http';
import { BatchTaskDto, type TaskTemplate } from '#lib/task-manager';
import {
  MISSED_POLICIES,
  type MissedPolicy,
  OCCURRENCE_OUTCOMES,
  type OccurrenceOutcome,
  type Overlap,
  OVERLAPS,
} from '../domain/schedule.js';
import type { DueTimeView, OccurrenceView, ScheduleView } from '../schedules/schedule-view.js';
import type { RuleRequest, ScheduleRequest } from '../schedules/schedules.js';

const MAX_INTERVAL_SECONDS = 31_536_000;
const MAX_JITTER_SECONDS = 86_400;

const WORDS = {
  cron:
    'A cron expression of five fields, or six with seconds, or @hourly, @daily, @weekly, @monthly, @yearly. ' +
    'Either cron or everySeconds is required.',
  timeZone: 'The IANA time zone of cron; UTC by default.',
  every:
    'The seconds between two due times. The first one is this long after the creation, or after the ' +
    'last change of the rule.',
  overlap:
    'What happens if tasks of an earlier due time have not finished. `skip` (the default): no tasks. ' +
    '`queue`: the tasks wait for them, and only one due time waits. `allow`: both run. ' +
    '`cancel`: the earlier tasks are cancelled.',
  missed:
    'Which due times start more than 60 s late. `none`: no due time. `last` (the default): the ' +
    'latest one. `all`: up to missedLimit.',
  missedLimit: 'With `all`: the maximum number of missed due times that start; 10 by default.',
  jitter:
    'The maximum delay of a start in seconds; 0 by default. If it is longer than the time between ' +
    'two due times, some due times are missed.',
  tasks:
    'The tasks of each due time, as in POST /agent-tasks/batch. Secrets are encrypted and never shown. The name of the schedule is the ' +
    'title of tasks without one.',
};

const id = { type: String, format: 'uuid' } as const;
const time = { type: String, format: 'date-time' } as const;
const text: ApiPropertyOptions = { type: String, nullable: true };

export class ScheduledTaskDto extends OmitType(BatchTaskDto, [
  'title',
  'parentTaskId',
  'blocksParent',
]) {
  @Text({ max: 255, optional: true, description: 'The name of the schedule by default' })
  title?: string;
}

class RuleDto implements RuleRequest {
  @Text({ max: 200, optional: true, description: WORDS.cron, example: '0 9 * * MON-FRI' })
  cron?: string;
  @TimeZone({ optional: true, description: WORDS.timeZone }) timeZone?: string;
  @Int(1, MAX_INTERVAL_SECONDS, { optional: true, description: WORDS.every })
  everySeconds?: number;
}

class PoliciesDto extends RuleDto {
  @Int(0, MAX_JITTER_SECONDS, { optional: true, description: WORDS.jitter })
  jitterSeconds?: number;
  @OneOf(OVERLAPS, { optional: true, description: WORDS.overlap }) overlap?: Overlap;
  @OneOf(MISSED_POLICIES, { optional: true, description: WORDS.missed }) missed?: MissedPolicy;
  @Int(1, 1_000, { optional: true, description: WORDS.missedLimit }) missedLimit?: number;
}

export class CreateScheduleDto extends PoliciesDto implements ScheduleRequest {
  @Text({ max: 200, description: 'The name, which is unique in the workspace', example: 'nightly' })
  name!: string;
  @NestedList(() => ScheduledTaskDto, { minItems: 1, maxItems: 1000, description: WORDS.tasks })
  tasks!: (ScheduledTaskDto & TaskTemplate)[];
}

/** Absent fields stay. A "[redacted]" in tasks keeps its value. */
export class ChangeScheduleDto extends PoliciesDto implements Partial<ScheduleRequest> {
  @Text({ max: 200, optional: true }) name?: string;
  @NestedList(() => ScheduledTaskDto, {
    minItems: 1,
    maxItems: 1000,
    optional: true,
    description: WORDS.tasks,
  })
  tasks?: (ScheduledTaskDto & TaskTemplate)[];
}

export class PreviewScheduleDto extends RuleDto {
  @Int(1, 100, { optional: true, description: 'The number of due times; 10 by default' })
  count?: number;
}

export class ListSchedulesQuery extends PageQuery {
  @Text({ max: 200, optional: true, description: 'Only the schedule of this name.' })
  name?: string;

  @Text({
    max: 200,
    optional: true,
    description: 'Only schedules whose name contains this text, in upper or lower case.',
  })
  text?: string;
}

export class DueTimesQuery {
  @Int(1, 100, { optional: true, description: 'The number of due times; 10 by default' })
  count?: number;
}

export class PauseScheduleDto {
  @Text({ max: 1_000, optional: true, description: 'The reason, which everybody sees' })
  reason?: string;
}

export class ScheduleDto implements ScheduleView {
  @ApiProperty(id) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ ...text, example: '0 9 * * MON-FRI' }) cron!: string | null;
  @ApiProperty({ ...text, example: 'Europe/Berlin' }) timeZone!: string | null;
  @ApiProperty({ type: 'integer', nullable: true }) everySeconds!: number | null;
  @ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: true } })
  tasks!: TaskTemplate[];
  @ApiProperty({ enum: OVERLAPS, description: WORDS.overlap }) overlap!: Overlap;
  @ApiProperty({ enum: MISSED_POLICIES, description: WORDS.missed }) missed!: MissedPolicy;
  @ApiProperty({ type: 'integer', description: WORDS.missedLimit }) missedLimit!: number;
  @ApiProperty({ type: 'integer', description: WORDS.jitter }) jitterSeconds!: number;
  @ApiProperty({
    ...time,
    nullable: true,
    description:
      'The next due time. Null while the schedule is paused, or if it is never due again',
  })
  nextDueAt!: string | null;
  @ApiProperty({
    ...time,
    nullable: true,
    description: 'The time at which the next due time starts, after its jitter',
  })
  nextStartAt!: string | null;
  @ApiProperty({ ...time, nullable: true }) pausedAt!: string | null;
  @ApiProperty(text) pauseReason!: string | null;
  @ApiProperty({
    ...time,
    nullable: true,
    description:
      'The latest due time whose tasks could not be created. Null after a start or a change',
  })
  failedAt!: string | null;
  @ApiProperty(id) createdBy!: string;
  @ApiProperty({ type: 'integer' }) version!: number;
  @ApiProperty(time) createdAt!: string;
  @ApiProperty(time) updatedAt!: string;
}

export class SchedulePageDto {
  @ApiProperty({ type: [ScheduleDto] }) items!: ScheduleDto[];
  @ApiProperty(text) nextCursor!: string | null;
}

export class ScheduleOccurrenceDto implements OccurrenceView {
  @ApiProperty(time) dueAt!: string;
  @ApiProperty({ description: 'Whether somebody started it by hand at this time' })
  manual!: boolean;
  @ApiProperty({
    enum: OCCURRENCE_OUTCOMES,
    description:
      'The outcome. `missed`: this due time and all before the next occurrence were too late. ' +
      '`failed`: the tasks could not be created; `detail` says why.',
  })
  outcome!: OccurrenceOutcome;
  @ApiProperty({ ...id, nullable: true, description: 'The first of its tasks' })
  taskId!: string | null;
  @ApiProperty({ ...text, description: 'The reason: overlap, or the code of an error' })
  reason!: string | null;
  @ApiProperty(text) detail!: string | null;
  @ApiProperty(time) createdAt!: string;
}

export class ScheduleOccurrencePageDto {
  @ApiProperty({ type: [ScheduleOccurrenceDto] }) items!: ScheduleOccurrenceDto[];
  @ApiProperty(text) nextCursor!: string | null;
}

export class DueTimeDto implements DueTimeView {
  @ApiProperty(time) dueAt!: string;
  @ApiProperty({ ...time, description: 'The time at which it starts, after its jitter' })
  startAt!: string;
}

export class DueTimesDto {
  @ApiProperty({ type: [DueTimeDto] }) items!: DueTimeDto[];
}
