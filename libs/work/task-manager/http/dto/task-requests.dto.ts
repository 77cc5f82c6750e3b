import { CAPABILITY } from '#lib/agent-manager';
import {
  field,
  Flag,
  Id,
  Int,
  JsonObject,
  Nested,
  NestedList,
  OneOf,
  SHORT_ID_SCHEMA,
  Text,
  TextList,
  Timestamp,
  TokenCount,
  WholeId,
  withShortIds,
} from '#lib/http';
import { isUuid } from '#lib/kernel';
import { Secrets } from '#lib/secrets';
import { MAX_ESTIMATE } from '#lib/models';
import { DEPENDENCY_POLICIES } from '../../domain/task-view.js';
import type { DependencyRequest, TaskRequest } from '../../domain/new-task.js';
import type { TaskUpdate } from '../../domain/task-update.js';
import { TaskAgentDto } from './task-agent.dto.js';
import { REQUESTED_STATUSES, type RequestedStatus } from '../../updates/task-updates.js';

const SECRETS =
  'Variables for the environment of the run. They are encrypted, given to the run and never shown.';

const COMPLEXITY =
  'The complexity from 1 to 100. The server estimates 1794 tokens a point, times a learned factor.';
const ESTIMATE =
  'The expected tokens. By default the server estimates them by complexity or by similar tasks';

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
      names: () => ['agent-tasks'],
      message:
        'must be an array of at most 1000 task ids or objects {taskId | ref, policy: block ' +
        '| fail | ignore}',
      holds: (value) => Array.isArray(value) && value.length <= 1000 && value.every(isDependency),
      schema: {
        type: 'array',
        maxItems: 1000,
        items: {
          oneOf: [
            { ...SHORT_ID_SCHEMA },
            {
              type: 'object',
              properties: {
                taskId: { ...SHORT_ID_SCHEMA },
                ref: { type: 'string', maxLength: 100 },
                policy: { type: 'string', enum: [...DEPENDENCY_POLICIES] },
              },
            },
          ],
        },
      },
    },
    withShortIds({ optional: true }),
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

  @Id('projects', { optional: true })
  projectId?: string;

  @Id('milestones', { optional: true, description: 'The milestone. It requires projectId.' })
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
      'The seconds before the first retry; 300 by default. The delay doubles with each retry.',
  })
  retryBackoffSeconds?: number;

  @Int(1, 31_536_000, {
    optional: true,
    description: 'The seconds after which the server aborts a task that still waits',
  })
  queueExpiresInSeconds?: number;

  @Timestamp({
    optional: true,
    description: 'The time at which the server aborts the task if it still waits',
  })
  expiresAt?: string;

  @Timestamp({ optional: true, description: 'The time from which on the task can start' })
  startAt?: string;

  @Int(1, 31_536_000, {
    optional: true,
    description: 'The seconds from the creation until the task can start, instead of startAt',
  })
  delaySeconds?: number;

  @Text({
    max: 200,
    optional: true,
    description:
      'At most concurrencyLimit tasks of this key run at once in the workspace. A task has its ' +
      'slot until it has finished, also while it is paused or waits for its retry.',
  })
  concurrencyKey?: string;

  @Int(1, 1_000, { optional: true, description: 'The limit of concurrencyKey; 1 by default' })
  concurrencyLimit?: number;

  @Text({
    max: 200,
    optional: true,
    description:
      'While a task of this key waits for its start, a creation with the same key moves that ' +
      'start to its own, and its answer is that task. It needs startAt or delaySeconds.',
  })
  debounceKey?: string;

  @TextList({ item: CAPABILITY, maxItems: 20, optional: true })
  requiredCapabilities?: string[];

  @Id('agents', { optional: true, description: 'The only agent that can take the task' })
  agentId?: string;

  @Nested(() => TaskAgentDto, { optional: true, description: 'The coding agent for the task' })
  agent?: TaskAgentDto & Record<string, unknown>;

  @Id('repositories', {
    optional: true,
    description: 'The repository that the task changes, on a branch of its own',
  })
  repositoryId?: string;

  @Text({ min: 0, max: 100_000, optional: true, description: 'What the coding agent is to do' })
  instructions?: string;

  @TextList({ item: { max: 2_000 }, maxItems: 100, optional: true, description: 'Steps, in order' })
  steps?: string[];

  @TextList({
    item: { max: 2_000 },
    maxItems: 100,
    optional: true,
    description: 'Expected results',
  })
  deliverables?: string[];

  @TextList({
    item: { max: 2_000 },
    maxItems: 100,
    optional: true,
    description: 'Conditions that the result must meet',
  })
  acceptance?: string[];

  @Text({
    max: 20_000,
    optional: true,
    description:
      'Commands that prove the result, run by `bash -e` in a clean sandbox on the files that the ' +
      'run leaves. The task completes when they succeed, and is retried at once when they fail. ' +
      'Only for a task without a repository',
    example: 'test -s report.md',
  })
  acceptanceScript?: string;

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

  @WholeId({
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
  @Id('agents', { nullable: true })
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

  @Id('agents', {
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
    description:
      `${SECRETS} They replace all secrets from the next run on; a "[redacted]" keeps its ` +
      'value.',
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

  @Id('projects', {
    optional: true,
    nullable: true,
    description: 'A task whose repository is for one project stays in this project.',
  })
  projectId?: string | null;

  @Id('milestones', {
    optional: true,
    nullable: true,
    description: "A milestone of the task's project",
  })
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
