import { CAPABILITY } from '#lib/agent-manager';
import { field, Id, Int, JsonObject, NestedList, Text, TextList } from '#lib/http';
import { isUuid } from '#lib/kernel';
import type { WantedDependency, WantedTask } from '../../domain/new-task.js';
import { DEPENDENCY_POLICIES } from '../../domain/task-view.js';

function isDependency(value: unknown): boolean {
  if (typeof value === 'string') return isUuid(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { taskId, ref, policy, ...rest } = value as WantedDependency & Record<string, unknown>;
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

export class CreateTaskDto implements WantedTask {
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

  @Int(1, 2_592_000, { optional: true, description: 'A run that takes longer is ended' })
  timeoutSeconds?: number;

  @Int(0, 100, { optional: true, description: '3 when left out' })
  maxRetries?: number;

  @Int(0, 86_400, { optional: true, description: 'Doubles with each retry; 300 when left out' })
  retryBackoffSeconds?: number;

  @Int(1, 31_536_000, { optional: true, description: 'Aborted when it has waited that long' })
  queueExpiresInSeconds?: number;

  @TextList({ item: CAPABILITY, maxItems: 20, optional: true })
  requiredCapabilities?: string[];

  @JsonObject({ optional: true, description: 'The input of the work, for the agent' })
  inputContext?: Record<string, unknown>;

  @JsonObject({ optional: true })
  metadata?: Record<string, unknown>;

  @TextList({ item: { max: 100 }, maxItems: 50, optional: true })
  tags?: string[];

  @Dependencies()
  dependsOn?: (string | WantedDependency)[];
}

export class BatchTaskDto extends CreateTaskDto {
  @Text({ max: 100, optional: true, description: 'Your own name for it within this batch' })
  ref?: string;
}

export class CreateBatchDto {
  @NestedList(() => BatchTaskDto, { minItems: 1, maxItems: 1000 })
  tasks!: BatchTaskDto[];
}
