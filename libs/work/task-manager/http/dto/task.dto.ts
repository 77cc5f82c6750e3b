import { ApiProperty } from '@nestjs/swagger';
import type { Page } from '#lib/kernel';
import {
  ABORT_REASONS,
  PAUSED_FOR,
  type PausedFor,
  TASK_STATUSES,
  type TaskStatus,
} from '#lib/transitions';
import { ESTIMATE_SOURCES } from '#lib/models';
import {
  DEPENDENCY_POLICIES,
  type DependencyPolicy,
  type DependencyView,
  type TaskView,
} from '../../domain/task-view.js';
import {
  ShownFlag,
  ShownId,
  ShownIdOrNull,
  ShownIds,
  ShownInt,
  ShownIntOrNull,
  ShownJson,
  ShownOneOf,
  ShownText,
  ShownTextOrNull,
  ShownTexts,
  ShownTime,
  ShownTimeOrNull,
} from './shown.js';
import { TaskAgentDto } from './task-agent.dto.js';

export class DependencyDto implements DependencyView {
  @ShownId() taskId!: string;
  @ShownOneOf(DEPENDENCY_POLICIES) policy!: DependencyPolicy;
  @ShownFlag({ description: 'Whether the dependency no longer blocks the task' }) settled!: boolean;
}

const REDACTED = 'Secrets in it are shown as "[redacted]", but to the run that holds the task';

/** A task in every answer with one. */
export class TaskDto implements TaskView {
  @ShownId() id!: string;
  @ShownId() workspaceId!: string;
  @ShownText() title!: string;
  @ShownTextOrNull() description!: string | null;
  @ShownText({ example: 'development' }) taskType!: string;
  @ShownOneOf(TASK_STATUSES) status!: TaskStatus;
  @ShownInt({ description: '1 to 10, 10 first' }) priority!: number;
  @ShownIdOrNull() projectId!: string | null;
  @ShownIdOrNull() milestoneId!: string | null;
  @ShownIdOrNull({ description: 'The agent of the live run or of the last one' }) agentId!:
    | string
    | null;
  @ShownIdOrNull({ description: 'The id of the live run' }) runId!: string | null;
  @ShownTextOrNull() sessionKey!: string | null;
  @ShownInt({ description: 'The progress in percent, from 0 to 100' }) progressPercent!: number;
  @ShownTextOrNull() currentStep!: string | null;
  @ShownIntOrNull() estimatedDurationMinutes!: number | null;
  @ShownTimeOrNull() estimatedCompletionAt!: string | null;
  @ShownIntOrNull({ description: 'The complexity from 1 to 100, as the client estimates it' })
  estimatedComplexity!: number | null;
  @ShownText({
    example: '8970',
    description: 'The tokens that a run holds of each budget that covers it, as a 64-bit number',
  })
  estimatedTokens!: string;
  @ShownOneOf(ESTIMATE_SOURCES, { description: 'The source of estimatedTokens' })
  estimateSource!: string;
  @ShownIntOrNull() timeoutSeconds!: number | null;
  @ShownInt() retryCount!: number;
  @ShownInt() maxRetries!: number;
  @ShownInt() retryBackoffSeconds!: number;
  @ShownTimeOrNull({ description: 'The time at which the server retries an ABORTED task' })
  retryAt!: string | null;
  @ShownTextOrNull() lastError!: string | null;
  @ShownTextOrNull({ description: `One of ${ABORT_REASONS.join(', ')}` })
  abortReason!: string | null;
  @ShownTextOrNull({
    description: 'The message of the abort, such as the reason of a cancellation',
  })
  abortMessage!: string | null;
  @ShownTextOrNull() failureReason!: string | null;
  @ShownTextOrNull({
    description:
      'The group of the dead letter, for a task that failed for good. Null once it is archived or replayed',
  })
  failureFingerprint!: string | null;
  @ShownIdOrNull({ description: 'The task of the dead letter that this task repeats' })
  replaysId!: string | null;
  @ShownIdOrNull({ description: 'The task that repeats this one' })
  replayedById!: string | null;
  @ShownIds({ description: 'Tasks that must complete first' }) dependsOn!: string[];
  @ShownIds({ description: 'Up to 1,000 tasks that wait for this one' }) blocks!: string[];
  @ShownInt({ description: 'The number of dependencies that still block the task' })
  unmetDependencies!: number;
  @ApiProperty({
    type: [DependencyDto],
    required: false,
    description: 'The details that only a request for one task returns',
  })
  dependencies?: DependencyDto[];
  @ShownTexts() requiredCapabilities!: string[];
  @ApiProperty({ type: TaskAgentDto, nullable: true, description: 'The coding agent' })
  agent!: unknown;
  @ShownTextOrNull() instructions!: string | null;
  @ShownTexts() steps!: string[];
  @ShownTexts() deliverables!: string[];
  @ShownTexts() acceptance!: string[];
  @ShownTextOrNull({ description: 'Commands that prove the result' })
  acceptanceScript!: string | null;
  @ShownJson({ description: REDACTED }) inputContext!: unknown;
  @ShownJson({ description: REDACTED }) outputResult!: unknown;
  @ShownTextOrNull() summary!: string | null;
  @ShownJson({ description: REDACTED }) checkpointData!: unknown;
  @ShownJson({ description: REDACTED }) metadata!: unknown;
  @ShownJson({
    description:
      'The names of the secrets, each with "[redacted]". The run that holds the task ' +
      'receives the values.',
  })
  secrets!: unknown;
  @ShownTexts() tags!: string[];
  @ShownTextOrNull({ example: 'user:0190…' }) pausedBy!: string | null;
  @ApiProperty({
    enum: PAUSED_FOR,
    enumName: 'PausedFor',
    type: 'string',
    nullable: true,
    description: 'The reason for the pause, or for the last one before the task ended',
  })
  pausedFor!: PausedFor | null;
  @ShownTextOrNull() pauseReason!: string | null;
  @ShownTimeOrNull({ description: 'The time at which the server aborts a task that still waits' })
  queueExpiresAt!: string | null;
  @ShownTimeOrNull({ description: 'The time from which on the task can start' })
  startAt!: string | null;
  @ShownTextOrNull({ description: 'Few tasks of this key run at once' })
  concurrencyKey!: string | null;
  @ShownIntOrNull({ description: 'The number of tasks of concurrencyKey that run at once' })
  concurrencyLimit!: number | null;
  @ShownTextOrNull({
    description: 'A creation with the same key moves the start of this task while it waits',
  })
  debounceKey!: string | null;
  @ShownInt({ description: 'The version. It rises with each change. Send it in If-Match.' })
  version!: number;
  @ShownInt({ description: 'The number of runs of the task' }) generation!: number;
  @ShownIdOrNull() createdBy!: string | null;
  @ShownIdOrNull({ description: 'The task whose run created this subtask' })
  parentTaskId!: string | null;
  @ShownIdOrNull({ description: 'The finished task whose conversation this task continues' })
  continuesId!: string | null;
  @ShownIdOrNull({ description: 'The schedule that created this task' })
  scheduleId!: string | null;
  @ShownTimeOrNull({ description: 'The due time of the schedule for which it created this task' })
  scheduledFor!: string | null;
  @ShownIdOrNull({ description: 'The repository that the task changes' })
  repositoryId!: string | null;
  @ShownTime() createdAt!: string;
  @ShownTime() updatedAt!: string;
  @ShownTimeOrNull({ description: 'The time since which the task is ready to run' }) readyAt!:
    | string
    | null;
  @ShownTimeOrNull() assignedAt!: string | null;
  @ShownTimeOrNull() startedAt!: string | null;
  @ShownTimeOrNull() pausedAt!: string | null;
  @ShownTimeOrNull() completedAt!: string | null;
  @ShownTimeOrNull() failedAt!: string | null;
  @ShownTimeOrNull() abortedAt!: string | null;
  @ShownTimeOrNull() archivedAt!: string | null;
}

export class TaskListDto {
  @ApiProperty({
    type: [TaskDto],
    description: 'The tasks in the order of the request; empty with `Prefer: return=minimal`',
  })
  items!: TaskDto[];
  @ApiProperty({ type: [String], description: 'Their ids in the order of the request' })
  ids!: string[];
}

export class TaskPageDto implements Page<TaskView> {
  @ApiProperty({ type: [TaskDto] }) items!: TaskDto[];
  @ShownTextOrNull({ description: 'The cursor of the next page, or null on the last page' })
  nextCursor!: string | null;
}
