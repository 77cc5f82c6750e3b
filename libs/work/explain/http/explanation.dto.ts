import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import {
  type EstimateView,
  type TimeRange,
  UNKNOWN_REASONS,
  type UnknownReason,
} from '../domain/estimate.js';
import { ALL_REASONS, type ExplainedReason, type ExplanationView } from '../domain/explain.js';
import { type Param, PARAM_KINDS } from '../domain/params.js';
import { schemasOf } from '../domain/reasons.js';
import { TASK_STATUSES, type TaskStatus } from '#lib/transitions';
import {
  ShownFlag,
  ShownId,
  ShownInt,
  ShownIntOrNull,
  ShownOneOf,
  ShownTime,
} from '#lib/task-manager';

const HOW_ESTIMATED = [
  'The future is simulated 101 times; `start` and `end` are the 50th and the 90th percentile.',
  'In each simulation, with D drawn from the durations of the latest 200 completed tasks ' +
    'of a type in this',
  'workspace, and W from their waits:',
  'a task that runs ends after D, given that D is longer than it has run;',
  'a queued task starts when a slot is free for it and for all tasks that rank before it. Each of',
  'these takes the first free slot for a D of its own type. Then it waits min(W, 5 s), ' +
    'and ends D later;',
  'a task that joins the queue later starts W after the latest of its retry, the ends of ' +
    'the pauses that',
  'hold it and the ends, in the same simulation, of the tasks it waits for, and ends D later.',
  'The simulation ignores tasks that overtake it, agents that come or go, and failed attempts.',
].join(' ');

const WHY_UNKNOWN = [
  'The reason why the end is unknown, or null.',
  '`ended`: the task does not continue by itself.',
  '`paused`: somebody must resume it or end the pause.',
  '`dependency_failed`: a task that it waits for, directly or not, ended without success.',
  '`waiting_for_dependency`: a task that it waits for has no estimate.',
  '`too_many_dependencies`: it waits, directly or not, for more than 100 tasks or 20 ready ones.',
  '`no_agent`: no agent in service can take it.',
  '`spawn_rate`: only push agents can take it, and its workspace cannot start sessions.',
  '`too_far_back`: more than 1,000 ready tasks rank before it.',
  '`no_history`: no task of its type has completed.',
  '`held_back`: one of its reasons holds it back for an unknown time.',
  '`longer_than_any`: it has run longer than all completed tasks of its type.',
].join(' ');

export class TimeRangeDto implements TimeRange {
  @ShownTime({ description: 'The median: the time is as likely earlier as later' }) p50!: string;
  @ShownTime({ description: 'The 90th percentile: the time is earlier in nine of ten cases' })
  p90!: string;
}

export class EstimateSpreadDto {
  @ApiProperty({ type: 'number' }) p50!: number;
  @ApiProperty({ type: 'number' }) p90!: number;
}

export class RunSlotsDto {
  @ShownInt({ description: 'The number of runs that agents which can take the task can hold' })
  all!: number;
  @ShownInt({ description: 'The number of runs that these agents can still take now' })
  free!: number;
}

export class EstimateBasisDto {
  @ShownInt({ description: 'The number of recent completed tasks of this type in the sample' })
  completedTasks!: number;
  @ApiProperty({ type: EstimateSpreadDto, nullable: true })
  durationSeconds!: EstimateSpreadDto | null;
  @ApiProperty({
    type: EstimateSpreadDto,
    nullable: true,
    description: 'The seconds from ready to assigned',
  })
  waitSeconds!: EstimateSpreadDto | null;
  @ShownIntOrNull({ description: 'The number of tasks that rank before this one' }) ahead!:
    | number
    | null;
  @ApiProperty({ type: RunSlotsDto, nullable: true }) places!: RunSlotsDto | null;
  @ShownIntOrNull({ description: 'The number of tasks that this one waits for' }) after!:
    | number
    | null;
}

/** When a task starts and ends, judged by its kind. */
export class EstimateDto implements EstimateView {
  @ApiProperty({
    type: TimeRangeDto,
    nullable: true,
    description: 'The time at which the task starts, or started',
  })
  start!: TimeRangeDto | null;
  @ApiProperty({ type: TimeRangeDto, nullable: true }) end!: TimeRangeDto | null;
  @ApiProperty({
    type: String,
    enum: [...UNKNOWN_REASONS],
    nullable: true,
    description: WHY_UNKNOWN,
  })
  unknownBecause!: UnknownReason | null;
  @ApiProperty({ type: EstimateBasisDto }) basis!: EstimateBasisDto;
}

export class MessageParamDto implements Param {
  @ShownOneOf(PARAM_KINDS) kind!: Param['kind'];
  @ApiProperty({
    description: 'The part of the message. A time has its preposition: at, until or by',
  })
  text!: string;
  @ApiProperty({ description: 'The words to show to people instead. The ISO form of a time' })
  name!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The id of the thing; null for a time and a code',
  })
  id!: string | null;
}

/** Why a task is not running, and when it will. */
@ApiExtraModels(MessageParamDto)
export class ExplanationDto implements Omit<ExplanationView, 'reasons'> {
  @ShownId() taskId!: string;
  @ShownOneOf(TASK_STATUSES) status!: TaskStatus;
  @ShownFlag({ description: 'Whether a run holds the task now' }) live!: boolean;
  @ApiProperty({
    type: 'array',
    items: { oneOf: schemasOf(ALL_REASONS, getSchemaPath(MessageParamDto)) },
  })
  reasons!: ExplainedReason[];
  @ApiProperty({ type: EstimateDto, description: HOW_ESTIMATED }) estimate!: EstimateDto;
  @ShownTime() at!: string;
}
