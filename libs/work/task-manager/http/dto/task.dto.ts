import { ApiProperty } from '@nestjs/swagger';
import { CAPABILITY } from '#lib/agent-manager';
import {
  field,
  Flag,
  Id,
  Int,
  JsonObject,
  NestedList,
  OneOf,
  Text,
  TextList,
  TokenCount,
} from '#lib/http';
import { isUuid, type Page } from '#lib/kernel';
import { Secrets } from '#lib/secrets';
import {
  ABORT_REASONS,
  PAUSED_FOR,
  type PausedFor,
  TASK_STATUSES,
  type TaskStatus,
} from '#lib/transitions';
import { ESTIMATE_SOURCES, MAX_ESTIMATE } from '#lib/models';
import {
  DEPENDENCY_POLICIES,
  type DependencyPolicy,
  type DependencyView,
  type TaskView,
} from '../../domain/task-view.js';
import type { DependencyRequest, TaskRequest } from '../../domain/new-task.js';
import type { TaskUpdate } from '../../domain/task-update.js';
import { REQUESTED_STATUSES, type RequestedStatus } from '../../updates/task-updates.js';
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

/* A task in answers, at creation, and in updates. */

export class DependencyDto implements DependencyView {
  @ShownId() taskId!: string;
  @ShownOneOf(DEPENDENCY_POLICIES) policy!: DependencyPolicy;
  @ShownFlag({ description: 'Whether the dependency no longer blocks the task' }) settled!: boolean;
}

const REDACTED = 'Secrets in it are shown as "[redacted]", but to the run that holds the task';

const SECRETS =
  'Variables for the environment of the run. They are encrypted, given to the run and never shown.';

const COMPLEXITY =
  'The complexity from 1 to 100. The server estimates 1794 tokens a point, times a learned factor.';
const ESTIMATE =
  'The expected tokens. By default the server estimates them by complexity or by similar tasks';

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
    string | null;
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
  @ShownInt({ description: 'The version. It rises with each change. Send it in If-Match.' })
  version!: number;
  @ShownInt({ description: 'The number of runs of the task' }) generation!: number;
  @ShownIdOrNull() createdBy!: string | null;
  @ShownIdOrNull({ description: 'The task whose run created this subtask' })
  parentTaskId!: string | null;
  @ShownTime() createdAt!: string;
  @ShownTime() updatedAt!: string;
  @ShownTimeOrNull({ description: 'The time since which the task is ready to run' }) readyAt!:
    string | null;
  @ShownTimeOrNull() assignedAt!: string | null;
  @ShownTimeOrNull() startedAt!: string | null;
  @ShownTimeOrNull() pausedAt!: string | null;
  @ShownTimeOrNull() completedAt!: string | null;
  @ShownTimeOrNull() failedAt!: string | null;
  @ShownTimeOrNull() abortedAt!: string | null;
  @ShownTimeOrNull() archivedAt!: string | null;
}

export class TaskListDto {
  @ApiProperty({ type: [TaskDto], description: 'The results in the order of the request' })
  items!: TaskDto[];
}

export class TaskPageDto implements Page<TaskView> {
  @ApiProperty({ type: [TaskDto] }) items!: TaskDto[];
  @ShownTextOrNull({ description: 'The cursor of the next page, or null on the last page' })
  nextCursor!: string | null;
}

function isDependency(value: unknown): boolean {
  if (typeof value === 'string') return isUuid(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { taskId, ref, policy, ...rest } = value as DependencyRequest & Record<string, unknown>;
  return (
    Object.keys(rest).length === 0 &&
    (taskId === undefined || isUuid(taskId)) &&
    (ref === undefined || (typeof ref === 'string' && ref.length <= 100)) &&
    (taskId === undefined) !== (ref === undefined) &&
    (policy === undefined || DEPENDENCY_POLICIES.includes(policy))
  );
}

/** `dependsOn`: ids, or objects with a policy, or with the ref of a task of the same batch. */
function Dependencies(): PropertyDecorator {
  return field(
    {
      name: 'dependencies',
      message:
        'must be an array of at most 1000 task ids or objects {taskId | ref, policy: block | fail | ignore}',
      holds: (value) => Array.isArray(value) && value.length <= 1000 && value.every(isDependency),
      schema: {
        type: 'array',
        maxItems: 1000,
        items: {
          oneOf: [
            { type: 'string', format: 'uuid' },
            {
              type: 'object',
              properties: {
                taskId: { type: 'string', format: 'uuid' },
                ref: { type: 'string', maxLength: 100 },
                policy: { type: 'string', enum: [...DEPENDENCY_POLICIES] },
              },
            },
          ],
        },
      },
    },
    { optional: true },
  );
}

export class CreateTaskDto implements TaskRequest {
  @Text({ max: 255, example: 'Fix TypeScript strict errors' })
  title!: string;

  @Text({ min: 0, max: 20_000, optional: true })
  description?: string;

  @Text({ max: 100, example: 'development' })
  taskType!: string;

  @Int(1, 10, { optional: true, description: 'The priority; 10 is the highest, 5 the default' })
  priority?: number;

  @Id({ optional: true })
  projectId?: string;

  @Id({ optional: true, description: 'The milestone. It requires projectId.' })
  milestoneId?: string;

  @Int(1, 525_600, { optional: true })
  estimatedDurationMinutes?: number;

  @Int(1, 100, { optional: true, description: COMPLEXITY })
  estimatedComplexity?: number;

  @TokenCount({ max: MAX_ESTIMATE, optional: true, description: ESTIMATE })
  estimatedTokens?: string;

  @Int(1, 2_592_000, {
    optional: true,
    nullable: true,
    description:
      'The seconds after which the server ends a run; DEFAULT_TIMEOUT_SECONDS by default. ' +
      'null means no limit.',
  })
  timeoutSeconds?: number | null;

  @Int(0, 100, { optional: true, description: 'The maximum number of retries; 3 by default' })
  maxRetries?: number;

  @Int(0, 86_400, {
    optional: true,
    description:
      'The seconds before the first retry; 300 by default. The delay doubles with each ' + 'retry.',
  })
  retryBackoffSeconds?: number;

  @Int(1, 31_536_000, {
    optional: true,
    description: 'The seconds after which the server aborts a task that still waits',
  })
  queueExpiresInSeconds?: number;

  @TextList({ item: CAPABILITY, maxItems: 20, optional: true })
  requiredCapabilities?: string[];

  @Id({ optional: true, description: 'The only agent that can take the task' })
  agentId?: string;

  @JsonObject({ optional: true, description: 'The input for the agent' })
  inputContext?: Record<string, unknown>;

  @JsonObject({ optional: true })
  metadata?: Record<string, unknown>;

  @Secrets({ optional: true, description: SECRETS, example: { GITHUB_TOKEN: 'ghp_…' } })
  secrets?: Record<string, string>;

  @TextList({ item: { max: 100 }, maxItems: 50, optional: true })
  tags?: string[];

  @Dependencies()
  dependsOn?: (string | DependencyRequest)[];

  @Id({
    optional: true,
    description:
      'For agents: the task that the agent holds and that this subtask belongs to. A run ' +
      'holds only one.',
  })
  parentTaskId?: string;

  @Flag({
    optional: true,
    description:
      'For agents and runs: a task that is released or retried waits until this subtask ' +
      'has ended. A task that completes does not wait.',
  })
  blocksParent?: boolean;
}

export class BatchTaskDto extends CreateTaskDto {
  @Text({ max: 100, optional: true, description: 'Your name for the task within this batch' })
  ref?: string;
}

export class CreateTasksDto {
  @NestedList(() => BatchTaskDto, { minItems: 1, maxItems: 1000 })
  tasks!: BatchTaskDto[];
}

export class AssignTaskDto {
  @Id({ nullable: true })
  agentId!: string | null;
}

/** Absent fields stay. Null empties a field. */
export class UpdateTaskDto implements TaskUpdate {
  @Text({ max: 255, optional: true })
  title?: string;

  @Text({ min: 0, max: 20_000, optional: true, nullable: true })
  description?: string | null;

  @Int(1, 10, { optional: true, description: 'The priority; 10 is the highest' })
  priority?: number;

  @TextList({
    item: CAPABILITY,
    maxItems: 20,
    optional: true,
    description: 'The new value, from the next run on',
  })
  requiredCapabilities?: string[];

  @Id({
    optional: true,
    nullable: true,
    description:
      'The only agent that can take the task from the next run on. null means any agent.',
  })
  agentId?: string | null;

  @TextList({
    item: { max: 100 },
    maxItems: 50,
    optional: true,
    description: 'The new value. It replaces all entries.',
  })
  tags?: string[];

  @JsonObject({
    optional: true,
    description: 'The new object. It replaces the whole object; a "[redacted]" keeps its value.',
  })
  metadata?: Record<string, unknown>;

  @Secrets({
    optional: true,
    description: `${SECRETS} They replace all secrets from the next run on; a "[redacted]" keeps its value.`,
  })
  secrets?: Record<string, string>;

  @Int(1, 525_600, { optional: true, nullable: true })
  estimatedDurationMinutes?: number | null;

  @Int(1, 100, { optional: true, nullable: true, description: COMPLEXITY })
  estimatedComplexity?: number | null;

  @TokenCount({
    max: MAX_ESTIMATE,
    optional: true,
    nullable: true,
    description: `${ESTIMATE}. null removes the value`,
  })
  estimatedTokens?: string | null;

  @Int(0, 100, { optional: true })
  maxRetries?: number;

  @Int(0, 86_400, { optional: true })
  retryBackoffSeconds?: number;

  @Int(1, 2_592_000, {
    optional: true,
    nullable: true,
    description: 'The new value, from the next run on',
  })
  timeoutSeconds?: number | null;

  @Id({ optional: true, nullable: true })
  projectId?: string | null;

  @Id({ optional: true, nullable: true, description: "A milestone of the task's project" })
  milestoneId?: string | null;

  @OneOf(REQUESTED_STATUSES, {
    optional: true,
    description:
      'The requested status. PAUSED pauses the task. PENDING resumes it, or retries a ' +
      'failed or aborted one. ABORTED cancels it. ARCHIVED archives it.',
  })
  status?: RequestedStatus;

  @Text({ max: 1000, optional: true, description: 'The reason for the change of status' })
  reason?: string;
}
