import { ApiProperty } from '@nestjs/swagger';
import type { Page } from '#lib/kernel';
import {
  type EstimateView,
  type TimeRange,
  UNKNOWN_REASONS,
  type UnknownReason,
} from '../../domain/estimate.js';
import type { DependenciesView, NeighbourView } from '../../domain/dependencies-view.js';
import { type ExplanationView, type Reason, REASON_CODES } from '../../domain/explain-reasons.js';
import { LOG_LEVELS, type LogLevel, type LogView } from '../../domain/log-view.js';
import { RUN_STATES, type RunState } from '../../domain/run-state.js';
import { TASK_STATUSES, type TaskStatus } from '../../domain/task-state.js';
import {
  DEPENDENCY_POLICIES,
  type DependencyPolicy,
  type RunView,
} from '../../domain/task-view.js';
import {
  ShownFlag,
  ShownId,
  ShownIdOrNull,
  ShownInt,
  ShownIntOrNull,
  ShownJson,
  ShownOneOf,
  ShownText,
  ShownTextOrNull,
  ShownTime,
  ShownTimeOrNull,
} from './shown.js';

const NEXT = { description: 'null on the last page' };

/** One attempt of a task by one agent. */
export class RunDto implements RunView {
  @ShownId() id!: string;
  @ShownId() taskId!: string;
  @ShownId() agentId!: string;
  @ShownInt({ description: 'Counts the runs of the task' }) generation!: number;
  @ShownOneOf(RUN_STATES) state!: RunState;
  @ShownInt() version!: number;
  @ShownTextOrNull() sessionKey!: string | null;
  @ShownInt() leaseSeconds!: number;
  @ShownTime() leaseExpiresAt!: string;
  @ShownFlag({ description: 'The heartbeats of its agent carry the lease' })
  leaseByHeartbeat!: boolean;
  @ShownInt() renewals!: number;
  @ShownTimeOrNull() deadlineAt!: string | null;
  @ShownTimeOrNull() pauseRequestedAt!: string | null;
  @ShownTextOrNull() branch!: string | null;
  @ShownTextOrNull() reviewUrl!: string | null;
  @ShownTextOrNull() endReason!: string | null;
  @ShownTextOrNull() error!: string | null;
  @ShownTextOrNull() errorClass!: string | null;
  @ShownIntOrNull() exitCode!: number | null;
  @ShownTextOrNull() signal!: string | null;
  @ShownTextOrNull() stackTrace!: string | null;
  @ShownTime() assignedAt!: string;
  @ShownTimeOrNull() startedAt!: string | null;
  @ShownTimeOrNull() staleAt!: string | null;
  @ShownTimeOrNull() endedAt!: string | null;
  @ShownTime() lastReportAt!: string;
  @ShownTimeOrNull({ description: 'Of its last progress or checkpoint' })
  lastProgressAt!: string | null;
  @ShownTimeOrNull({ description: 'It seems to hang, and its agent was told' })
  hungWarnedAt!: string | null;
}

export class RunPageDto implements Page<RunView> {
  @ApiProperty({ type: [RunDto] }) items!: RunDto[];
  @ShownTextOrNull(NEXT) nextCursor!: string | null;
}

export class LogActorDto {
  @ShownText({ example: 'user' }) kind!: string;
  @ShownTextOrNull() id!: string | null;
}

/** One entry of a task's log. */
export class LogDto implements LogView {
  @ShownId() id!: string;
  @ShownId() taskId!: string;
  @ShownIdOrNull() runId!: string | null;
  @ShownIdOrNull() agentId!: string | null;
  @ShownOneOf(LOG_LEVELS) level!: LogLevel;
  @ShownText({ example: 'state_transition' }) event!: string;
  @ShownTextOrNull() message!: string | null;
  @ShownJson() details!: unknown;
  @ShownIntOrNull({ description: 'The version that it brought the task to' })
  taskVersion!: number | null;
  @ShownTextOrNull() previousStatus!: string | null;
  @ShownTextOrNull() newStatus!: string | null;
  @ApiProperty({ type: LogActorDto }) actor!: LogActorDto;
  @ShownTextOrNull() sessionKey!: string | null;
  @ShownTextOrNull() stackTrace!: string | null;
  @ShownTime() createdAt!: string;
}

export class LogPageDto implements Page<LogView> {
  @ApiProperty({ type: [LogDto] }) items!: LogDto[];
  @ShownTextOrNull({
    description: 'null on the last page; with follow=true, null only while there is no entry',
  })
  nextCursor!: string | null;
}

export class NeighbourDto implements NeighbourView {
  @ShownId() taskId!: string;
  @ShownText() title!: string;
  @ShownOneOf(TASK_STATUSES) status!: TaskStatus;
  @ShownOneOf(DEPENDENCY_POLICIES) policy!: DependencyPolicy;
  @ShownFlag({ description: 'It no longer holds the waiting task back' }) settled!: boolean;
  @ShownTimeOrNull() settledAt!: string | null;
  @ShownTime() createdAt!: string;
}

/** What a task waits for, and what waits for it. */
export class DependenciesDto implements DependenciesView {
  @ShownId() taskId!: string;
  @ShownOneOf(TASK_STATUSES) status!: TaskStatus;
  @ShownInt() unmetDependencies!: number;
  @ApiProperty({ type: [NeighbourDto] }) dependsOn!: NeighbourDto[];
  @ApiProperty({ type: [NeighbourDto], description: 'A page of them' }) blocks!: NeighbourDto[];
  @ShownTextOrNull({ description: 'For the next page of `blocks`' }) nextCursor!: string | null;
  @ShownInt({ description: 'Of the task; for If-Match' }) version!: number;
}

export class ReasonDto {
  @ShownOneOf(REASON_CODES) code!: string;
  @ShownText({ description: 'A sentence for people' }) message!: string;
  @ShownJson({ description: 'What it is drawn from; each code has its own fields' })
  facts!: unknown;
}

export class TimeRangeDto implements TimeRange {
  @ShownTime({ description: 'As likely before as after' }) p50!: string;
  @ShownTime({ description: 'With nine chances of ten before' }) p90!: string;
}

export class SpreadDto {
  @ApiProperty({ type: 'number' }) p50!: number;
  @ApiProperty({ type: 'number' }) p90!: number;
}

export class PlacesDto {
  @ShownInt({ description: 'Tasks that the agents which could take it may hold at once' })
  all!: number;
  @ShownInt({ description: 'How many more they could hold now' }) free!: number;
}

export class EstimateBasisDto {
  @ShownInt({ description: 'The latest completed tasks of its type that were looked at' })
  completedTasks!: number;
  @ApiProperty({ type: SpreadDto, nullable: true }) durationSeconds!: SpreadDto | null;
  @ApiProperty({ type: SpreadDto, nullable: true, description: 'From ready to assigned' })
  waitSeconds!: SpreadDto | null;
  @ShownIntOrNull({ description: 'Tasks that rank before it' }) ahead!: number | null;
  @ApiProperty({ type: PlacesDto, nullable: true }) places!: PlacesDto | null;
}

/** When a task starts and ends, from what was seen of its kind. */
export class EstimateDto implements EstimateView {
  @ApiProperty({ type: TimeRangeDto, nullable: true, description: 'Of one that runs: when it did' })
  start!: TimeRangeDto | null;
  @ApiProperty({ type: TimeRangeDto, nullable: true }) end!: TimeRangeDto | null;
  @ApiProperty({
    ...{ type: String, enum: [...UNKNOWN_REASONS], nullable: true },
    description: 'Why the end is not known; null when it is',
  })
  unknownBecause!: UnknownReason | null;
  @ApiProperty({ type: EstimateBasisDto }) basis!: EstimateBasisDto;
}

/** Why a task is not running, and when it will. */
export class ExplanationDto implements Omit<ExplanationView, 'reasons'> {
  @ShownId() taskId!: string;
  @ShownOneOf(TASK_STATUSES) status!: TaskStatus;
  @ShownFlag({ description: 'A run holds it now' }) live!: boolean;
  @ApiProperty({ type: [ReasonDto] }) reasons!: Reason[];
  @ApiProperty({ type: EstimateDto }) estimate!: EstimateDto;
  @ShownTime() at!: string;
}
