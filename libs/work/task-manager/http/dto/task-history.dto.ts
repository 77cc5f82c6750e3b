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
import {
  PAUSED_FOR,
  type PausedFor,
  RUN_STATES,
  type RunState,
  TASK_STATUSES,
  type TaskStatus,
} from '#lib/transitions';
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
const NEXT = { description: 'The cursor of the next page, or null on the last page' };

/** One attempt of a task by one agent. */
export class RunDto implements RunView {
  @ShownId() id!: string;
  @ShownId() taskId!: string;
  @ShownId() agentId!: string;
  @ShownInt({ description: 'The number of the run within its task' }) generation!: number;
  @ShownOneOf(RUN_STATES) state!: RunState;
  @ShownInt() version!: number;
  @ShownTextOrNull() sessionKey!: string | null;
  @ShownInt() leaseSeconds!: number;
  @ShownTime() leaseExpiresAt!: string;
  @ShownFlag({ description: 'Whether the heartbeats of the agent renew the lease' })
  leaseByHeartbeat!: boolean;
  @ShownInt() renewals!: number;
  @ShownTimeOrNull() deadlineAt!: string | null;
  @ShownTimeOrNull() pauseRequestedAt!: string | null;
  @ShownFlag({ description: 'Whether the requested pause waits for the turn of the agent to end' })
  pauseAfterTurn!: boolean;
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
  @ShownTimeOrNull({
    description:
      'The time of the last progress or checkpoint, or of the last words or tool call of a ' +
      'coding agent, to 10 s',
  })
  lastProgressAt!: string | null;
  @ShownTimeOrNull({
    description: 'The time at which the server warned the agent of a run that seems to hang',
  })
  hungWarnedAt!: string | null;
  @ShownIds({ description: 'The budgets that covered the run at its start' })
  budgetIds!: string[];
  @ShownText({ ...TOKENS, description: 'The tokens that the live run still holds of each budget' })
  heldTokens!: string;
  @ShownTextOrNull({
    ...TOKENS,
    description: 'The tokens that the task was estimated to use. It is null without budgets.',
  })
  estimatedTokens!: string | null;
  @ShownText(TOKENS) usedTokens!: string;
  @ShownText({ example: '0.042', description: 'The cost in USD, by the prices of the models' })
  usedCostUsd!: string;
  @ShownTextOrNull({
    example: 'claude-sonnet-4-6',
    description:
      "The model of the run: the model of its agent, or the choice of the workspace's " + 'routing',
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
  @ShownText({ example: '88123', description: 'A 64-bit number that rises within a task.' })
  id!: string;
  @ShownId() taskId!: string;
  @ShownIdOrNull() runId!: string | null;
  @ShownIdOrNull() agentId!: string | null;
  @ShownOneOf(LOG_LEVELS) level!: LogLevel;
  @ShownText({ example: 'state_transition' }) event!: string;
  @ShownText({
    example: 'task_assigned',
    description: 'The action. A transition is named by its new state, all else by its event.',
  })
  action!: string;
  @ShownTextOrNull() message!: string | null;
  @ShownJson() details!: unknown;
  @ShownIntOrNull({ description: 'The version of the task after this entry' })
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
    description:
      'The cursor of the next page, or null on the last page. With follow=true it is null ' +
      'only while there is no entry.',
  })
  nextCursor!: string | null;
}

export class RelatedTaskDto implements NeighbourView {
  @ShownId() taskId!: string;
  @ShownText() title!: string;
  @ShownOneOf(TASK_STATUSES) status!: TaskStatus;
  @ShownOneOf(DEPENDENCY_POLICIES) policy!: DependencyPolicy;
  @ShownFlag({ description: 'Whether the dependency no longer blocks the waiting task' })
  settled!: boolean;
  @ShownTimeOrNull() settledAt!: string | null;
  @ShownTime() createdAt!: string;
}

/** The prerequisites of a task, and its dependents. */
export class TaskDependenciesDto implements DependenciesView {
  @ShownId() taskId!: string;
  @ShownOneOf(TASK_STATUSES) status!: TaskStatus;
  @ShownInt() unmetDependencies!: number;
  @ApiProperty({ type: [RelatedTaskDto] }) dependsOn!: RelatedTaskDto[];
  @ApiProperty({
    type: [RelatedTaskDto],
    description: 'A page of the tasks that wait for this one',
  })
  blocks!: RelatedTaskDto[];
  @ShownTextOrNull({ description: 'The cursor of the next page of `blocks`' }) nextCursor!:
    | string
    | null;
  @ShownInt({ description: 'The version of the task, for If-Match' }) version!: number;
}

export class GraphTaskDto implements GraphTaskView {
  @ShownId() taskId!: string;
  @ShownText() title!: string;
  @ShownOneOf(TASK_STATUSES) status!: TaskStatus;
  @ShownTimeOrNull({ description: 'The time at which the server retries an ABORTED task' })
  retryAt!: string | null;
  @ShownTextOrNull({ description: '`cancelled` if somebody cancelled it' })
  abortReason!: string | null;
  @ApiProperty({ enum: PAUSED_FOR, type: 'string', nullable: true }) pausedFor!: PausedFor | null;
}

export class GraphEdgeDto implements GraphEdgeView {
  @ShownId({ description: 'The task that waits' }) taskId!: string;
  @ShownId() dependsOnId!: string;
  @ShownOneOf(DEPENDENCY_POLICIES) policy!: DependencyPolicy;
  @ShownFlag({ description: 'Whether the dependency no longer blocks the waiting task' })
  settled!: boolean;
}

/** A task with everything that it waits for and that waits for it, directly or through others. */
export class TaskGraphDto implements TaskGraphView {
  @ShownId() taskId!: string;
  @ApiProperty({
    type: [GraphTaskDto],
    description: 'The tasks of the graph, including the task itself',
  })
  tasks!: GraphTaskDto[];
  @ApiProperty({
    type: [GraphEdgeDto],
    description: 'The edges between these tasks, at most 2,000',
  })
  edges!: GraphEdgeDto[];
  @ShownFlag({ description: 'Whether the graph has more tasks or edges' }) truncated!: boolean;
}
