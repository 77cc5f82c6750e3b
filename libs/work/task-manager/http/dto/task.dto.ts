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

/* A task as it is shown, as it is created, and as it is changed. */

export class DependencyDto implements DependencyView {
  @ShownId() taskId!: string;
  @ShownOneOf(DEPENDENCY_POLICIES) policy!: DependencyPolicy;
  @ShownFlag({ description: 'It no longer holds the task back' }) settled!: boolean;
}

const REDACTED = 'Secrets in it are shown as "[redacted]", but to the run that holds the task';

const SECRETS =
  'For the environment of what executes the task: encrypted, given to its run, and shown to nobody.';

const COMPLEXITY =
  '1 to 100, by which the tokens that it uses are estimated: 1794 a point, times what was learned of such tasks';
const ESTIMATE =
  'What it will use. When left out: estimated by estimatedComplexity, else by what such tasks used';

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
  @ShownIntOrNull({ description: '1 to 100, as its client has it' })
  estimatedComplexity!: number | null;
  @ShownText({
    example: '8970',
    description: 'What a run holds of each budget that covers it; a 64-bit number',
  })
  estimatedTokens!: string;
  @ShownOneOf(ESTIMATE_SOURCES, { description: 'Where estimatedTokens comes from' })
  estimateSource!: string;
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
  @ShownJson({
    description: 'Their names, each with "[redacted]"; the run that holds the task sees the values',
  })
  secrets!: unknown;
  @ShownTexts() tags!: string[];
  @ShownTextOrNull({ example: 'user:0190…' }) pausedBy!: string | null;
  @ApiProperty({
    enum: PAUSED_FOR,
    enumName: 'PausedFor',
    type: 'string',
    nullable: true,
    description: 'What it is paused for, or was before it ended',
  })
  pausedFor!: PausedFor | null;
  @ShownTextOrNull() pauseReason!: string | null;
  @ShownTimeOrNull({ description: 'Aborted when it still waits then' })
  queueExpiresAt!: string | null;
  @ShownInt({ description: 'Rises with each change; for If-Match' }) version!: number;
  @ShownInt({ description: 'How many runs it has had' }) generation!: number;
  @ShownIdOrNull() createdBy!: string | null;
  @ShownIdOrNull({ description: 'The task whose run has created it' })
  parentTaskId!: string | null;
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

  @Int(1, 10, { optional: true, description: '10 first; 5 when left out' })
  priority?: number;

  @Id({ optional: true })
  projectId?: string;

  @Id({ optional: true, description: 'Needs projectId' })
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
      'A run that takes longer is ended. DEFAULT_TIMEOUT_SECONDS when left out; null: never',
  })
  timeoutSeconds?: number | null;

  @Int(0, 100, { optional: true, description: '3 when left out' })
  maxRetries?: number;

  @Int(0, 86_400, { optional: true, description: 'Doubles with each retry; 300 when left out' })
  retryBackoffSeconds?: number;

  @Int(1, 31_536_000, { optional: true, description: 'Aborted when it has waited that long' })
  queueExpiresInSeconds?: number;

  @TextList({ item: CAPABILITY, maxItems: 20, optional: true })
  requiredCapabilities?: string[];

  @Id({ optional: true, description: 'The agent that alone may take it' })
  agentId?: string;

  @JsonObject({ optional: true, description: 'The input of the work, for the agent' })
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
      'For agents: the task that they hold, of which it is a subtask. A run has but one.',
  })
  parentTaskId?: string;

  @Flag({
    optional: true,
    description:
      'For agents and runs: when the run releases its task, or fails and is retried, the task waits until this subtask has ended. One that completes does not wait.',
  })
  blocksParent?: boolean;
}

export class BatchTaskDto extends CreateTaskDto {
  @Text({ max: 100, optional: true, description: 'Your own name for it within this batch' })
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

/** Absent fields stay; null empties a field. */
export class UpdateTaskDto implements TaskUpdate {
  @Text({ max: 255, optional: true })
  title?: string;

  @Text({ min: 0, max: 20_000, optional: true, nullable: true })
  description?: string | null;

  @Int(1, 10, { optional: true, description: '10 first' })
  priority?: number;

  @TextList({ item: CAPABILITY, maxItems: 20, optional: true, description: 'From the next run on' })
  requiredCapabilities?: string[];

  @Id({
    optional: true,
    nullable: true,
    description: 'The agent that alone may take it from the next run on; null: any that can',
  })
  agentId?: string | null;

  @TextList({ item: { max: 100 }, maxItems: 50, optional: true, description: 'Replaces all' })
  tags?: string[];

  @JsonObject({
    optional: true,
    description: 'Replaces the whole object; a "[redacted]" that was shown keeps what it hid',
  })
  metadata?: Record<string, unknown>;

  @Secrets({
    optional: true,
    description: `${SECRETS} Replaces all, for the next run; a "[redacted]" keeps what it hid.`,
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
    description: `${ESTIMATE}. null takes it back`,
  })
  estimatedTokens?: string | null;

  @Int(0, 100, { optional: true })
  maxRetries?: number;

  @Int(0, 86_400, { optional: true })
  retryBackoffSeconds?: number;

  @Int(1, 2_592_000, { optional: true, nullable: true, description: 'From the next run on' })
  timeoutSeconds?: number | null;

  @Id({ optional: true, nullable: true })
  projectId?: string | null;

  @Id({ optional: true, nullable: true, description: 'A milestone of the project of the task' })
  milestoneId?: string | null;

  @OneOf(REQUESTED_STATUSES, {
    optional: true,
    description:
      'PAUSED pauses, PENDING resumes (or retries a task that failed or was aborted), ABORTED cancels, ARCHIVED archives',
  })
  status?: RequestedStatus;

  @Text({ max: 1000, optional: true, description: 'Why the status changes' })
  reason?: string;
}
