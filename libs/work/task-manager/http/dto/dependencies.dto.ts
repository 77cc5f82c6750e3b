import { field, Int, SHORT_ID_SCHEMA, withShortIds } from '#lib/http';
import { isIdPrefix } from '#lib/kernel';
import { MAX_DEPENDENCIES } from '../../domain/dependencies.js';
import { DEPENDENCY_POLICIES } from '../../domain/task-view.js';

const SCHEMA = {
  type: 'array',
  maxItems: MAX_DEPENDENCIES,
  items: {
    oneOf: [
      { ...SHORT_ID_SCHEMA },
      {
        type: 'object',
        required: ['taskId'],
        properties: {
          taskId: { ...SHORT_ID_SCHEMA },
          policy: { type: 'string', enum: [...DEPENDENCY_POLICIES], default: 'block' },
        },
      },
    ],
  },
};

function isShortened(item: unknown): boolean {
  return isIdPrefix(item) || isIdPrefix((item as { taskId?: unknown } | null)?.taskId);
}

/** Checks only that it is a list with whole ids. `readDependencies` names the wrong items. */
function Dependencies(options: { minItems: number }): PropertyDecorator {
  return field(
    {
      name: 'dependencies',
      names: () => ['agent-tasks'],
      message:
        `must be an array of ${options.minItems} to ${MAX_DEPENDENCIES} task ids, or ` +
        'objects with taskId and policy',
      holds: (value) =>
        Array.isArray(value) &&
        value.length >= options.minItems &&
        value.length <= MAX_DEPENDENCIES &&
        !value.some(isShortened),
      schema: { ...SCHEMA, minItems: options.minItems } as Parameters<typeof field>[0]['schema'],
    },
    withShortIds({
      description:
        'Ids of tasks, or objects with an id and a policy for a task that does not complete.',
    }),
  );
}

export class AddDependenciesDto {
  @Dependencies({ minItems: 1 })
  dependsOn!: unknown[];
}

export class ReplaceDependenciesDto {
  @Dependencies({ minItems: 0 })
  dependsOn!: unknown[];
}

export class GraphQuery {
  @Int(1, 500, {
    optional: true,
    description:
      'The maximum number of tasks on each side, including the task itself; 100 by default',
  })
  limit: number = 100;
}
