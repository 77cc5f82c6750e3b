import { ApiProperty } from '@nestjs/swagger';
import type { Page } from '#lib/kernel';
import { ABORT_REASONS, TASK_STATUSES, type TaskStatus } from '#lib/transitions';
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

export class DependencyDto implements DependencyView {
  @ShownId() taskId!: string;
  @ShownOneOf(DEPENDENCY_POLICIES) policy!: DependencyPolicy;
  @ShownFlag({ description: 'It no longer holds the task back' }) settled!: boolean;
}

const REDACTED = 'Secrets in it are shown as "[redacted]", but to the run that holds the task';

/** A task, as every route that answers one shows it. */
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
  @ShownIdOrNull({ description: 'The agent of the live run, or of the last one' }) agentId!:
    string | null;
  @ShownIdOrNull({ description: 'The live run' }) runId!: string | null;
  @ShownTextOrNull() sessionKey!: string | null;
  @ShownInt({ description: '0 to 100' }) progressPercent!: number;
  @ShownTextOrNull() currentStep!: string | null;
  @ShownIntOrNull() estimatedDurationMinutes!: number | null;
  @ShownTimeOrNull() estimatedCompletionAt!: string | null;
  @ShownIntOrNull() timeoutSeconds!: number | null;
  @ShownInt() retryCount!: number;
  @ShownInt() maxRetries!: number;
  @ShownInt() retryBackoffSeconds!: number;
  @ShownTimeOrNull({ description: 'When an ABORTED task is tried again' }) retryAt!: string | null;
  @ShownTextOrNull() lastError!: string | null;
  @ShownTextOrNull({ description: `One of ${ABORT_REASONS.join(', ')}` })
  abortReason!: string | null;
  @ShownTextOrNull({
    description: 'The message of the abortion, such as the reason of a cancellation',
  })
  abortMessage!: string | null;
  @ShownTextOrNull() failureReason!: string | null;
  @ShownIds({ description: 'Tasks that must complete first' }) dependsOn!: string[];
  @ShownIds({ description: 'Up to 1,000 of the tasks that wait for this one' }) blocks!: string[];
  @ShownInt({ description: 'How many of dependsOn still hold it back' }) unmetDependencies!: number;
  @ApiProperty({
    type: [DependencyDto],
    required: false,
    description: 'Where one task is asked for',
  })
  dependencies?: DependencyDto[];
  @ShownTexts() requiredCapabilities!: string[];
  @ShownJson({ description: REDACTED }) inputContext!: unknown;
  @ShownJson({ description: REDACTED }) outputResult!: unknown;
  @ShownTextOrNull() summary!: string | null;
  @ShownJson({ description: REDACTED }) checkpointData!: unknown;
  @ShownJson({ description: REDACTED }) metadata!: unknown;
  @ShownTexts() tags!: string[];
  @ShownTextOrNull({ example: 'user:0190…' }) pausedBy!: string | null;
  @ShownTextOrNull() pauseReason!: string | null;
  @ShownTimeOrNull({ description: 'Aborted when it still waits then' })
  queueExpiresAt!: string | null;
  @ShownInt({ description: 'Rises with each change; for If-Match' }) version!: number;
  @ShownInt({ description: 'How many runs it has had' }) generation!: number;
  @ShownIdOrNull() createdBy!: string | null;
  @ShownTime() createdAt!: string;
  @ShownTime() updatedAt!: string;
  @ShownTimeOrNull({ description: 'Since when it could run' }) readyAt!: string | null;
  @ShownTimeOrNull() assignedAt!: string | null;
  @ShownTimeOrNull() startedAt!: string | null;
  @ShownTimeOrNull() pausedAt!: string | null;
  @ShownTimeOrNull() completedAt!: string | null;
  @ShownTimeOrNull() failedAt!: string | null;
  @ShownTimeOrNull() abortedAt!: string | null;
  @ShownTimeOrNull() archivedAt!: string | null;
}

export class TaskListDto {
  @ApiProperty({ type: [TaskDto], description: 'In the order of the request' }) items!: TaskDto[];
}

export class TaskPageDto implements Page<TaskView> {
  @ApiProperty({ type: [TaskDto] }) items!: TaskDto[];
  @ShownTextOrNull({ description: 'null on the last page' }) nextCursor!: string | null;
}
