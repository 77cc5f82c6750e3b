import { ApiProperty } from '@nestjs/swagger';
import type { Page } from '#lib/kernel';
import type {
  DependenciesView,
  GraphEdgeView,
  GraphTaskView,
  NeighbourView,
  TaskGraphView,
} from '../../domain/dependencies-view.js';
import { LOG_LEVELS, type LogLevel, type LogView } from '../../domain/log-view.js';
import { RUN_STATES, type RunState, TASK_STATUSES, type TaskStatus } from '#lib/transitions';
import {
  DEPENDENCY_POLICIES,
  type DependencyPolicy,
  type RunView,
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
  ShownTime,
  ShownTimeOrNull,
} from './shown.js';

const TOKENS = { example: '8970' };
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
  @ShownTimeOrNull({ description: 'The time of its last progress or checkpoint' })
  lastProgressAt!: string | null;
  @ShownTimeOrNull({ description: 'It seems to hang, and its agent was told' })
  hungWarnedAt!: string | null;
  @ShownIds({ description: 'The budgets that covered it when it was handed out' })
  budgetIds!: string[];
  @ShownText({ ...TOKENS, description: 'What it still holds of each of them while it lives' })
  heldTokens!: string;
  @ShownTextOrNull({
    ...TOKENS,
    description: 'What its task was expected to use; null without budgets',
  })
  estimatedTokens!: string | null;
  @ShownText(TOKENS) usedTokens!: string;
  @ShownText({ example: '0.042', description: 'In USD, by the prices of the models' })
  usedCostUsd!: string;
  @ShownTextOrNull({
    example: 'claude-sonnet-4-6',
    description: "What it is to use: its agent's, or what the workspace's routing chose",
  })
  model!: string | null;
}

export class RunPageDto implements Page<RunView> {
  @ApiProperty({ type: [RunDto] }) items!: RunDto[];
  @ShownTextOrNull(NEXT) nextCursor!: string | null;
}

export class TaskLogActorDto {
  @ShownText({ example: 'user' }) kind!: string;
  @ShownTextOrNull() id!: string | null;
}

/** One entry of a task's log. */
export class TaskLogEntryDto implements LogView {
  @ShownText({ example: '88123', description: 'Rises within a task; a 64-bit number.' })
  id!: string;
  @ShownId() taskId!: string;
  @ShownIdOrNull() runId!: string | null;
  @ShownIdOrNull() agentId!: string | null;
  @ShownOneOf(LOG_LEVELS) level!: LogLevel;
  @ShownText({ example: 'state_transition' }) event!: string;
  @ShownText({
    example: 'task_assigned',
    description: 'A transition by where it led to; all else by its event',
  })
  action!: string;
  @ShownTextOrNull() message!: string | null;
  @ShownJson() details!: unknown;
  @ShownIntOrNull({ description: 'The version that it brought the task to' })
  taskVersion!: number | null;
  @ShownTextOrNull() previousStatus!: string | null;
  @ShownTextOrNull() newStatus!: string | null;
  @ApiProperty({ type: TaskLogActorDto }) actor!: TaskLogActorDto;
  @ShownTextOrNull() sessionKey!: string | null;
  @ShownTextOrNull() stackTrace!: string | null;
  @ShownTime() createdAt!: string;
}

export class TaskLogPageDto implements Page<LogView> {
  @ApiProperty({ type: [TaskLogEntryDto] }) items!: TaskLogEntryDto[];
  @ShownTextOrNull({
    description: 'null on the last page; with follow=true, null only while there is no entry',
  })
  nextCursor!: string | null;
}

export class RelatedTaskDto implements NeighbourView {
  @ShownId() taskId!: string;
  @ShownText() title!: string;
  @ShownOneOf(TASK_STATUSES) status!: TaskStatus;
  @ShownOneOf(DEPENDENCY_POLICIES) policy!: DependencyPolicy;
  @ShownFlag({ description: 'It no longer holds the waiting task back' }) settled!: boolean;
  @ShownTimeOrNull() settledAt!: string | null;
  @ShownTime() createdAt!: string;
}

/** The prerequisites of a task, and its dependents. */
export class TaskDependenciesDto implements DependenciesView {
  @ShownId() taskId!: string;
  @ShownOneOf(TASK_STATUSES) status!: TaskStatus;
  @ShownInt() unmetDependencies!: number;
  @ApiProperty({ type: [RelatedTaskDto] }) dependsOn!: RelatedTaskDto[];
  @ApiProperty({ type: [RelatedTaskDto], description: 'A page of them' })
  blocks!: RelatedTaskDto[];
  @ShownTextOrNull({ description: 'For the next page of `blocks`' }) nextCursor!: string | null;
  @ShownInt({ description: 'The version of the task; for If-Match' }) version!: number;
}

export class GraphTaskDto implements GraphTaskView {
  @ShownId() taskId!: string;
  @ShownText() title!: string;
  @ShownOneOf(TASK_STATUSES) status!: TaskStatus;
}

export class GraphEdgeDto implements GraphEdgeView {
  @ShownId({ description: 'The task that waits' }) taskId!: string;
  @ShownId() dependsOnId!: string;
  @ShownOneOf(DEPENDENCY_POLICIES) policy!: DependencyPolicy;
  @ShownFlag({ description: 'It no longer holds the waiting task back' }) settled!: boolean;
}

/** A task with everything that it waits for and that waits for it, directly or through others. */
export class TaskGraphDto implements TaskGraphView {
  @ShownId() taskId!: string;
  @ApiProperty({ type: [GraphTaskDto], description: 'The task itself among them' })
  tasks!: GraphTaskDto[];
  @ApiProperty({ type: [GraphEdgeDto], description: 'Between these tasks; 2,000 at most' })
  edges!: GraphEdgeDto[];
  @ShownFlag({ description: 'There are more tasks or edges than these' }) truncated!: boolean;
}
