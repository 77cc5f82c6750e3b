import type { components } from '#lib/api-client';
import { nameField } from './field-words.js';
import type { Task } from './status.js';
import type { TaskPrefill } from './task-draft.js';

const COPIED = [
  'title',
  'description',
  'taskType',
  'priority',
  'projectId',
  'milestoneId',
  'estimatedDurationMinutes',
  'estimatedComplexity',
  'timeoutSeconds',
  'maxRetries',
  'retryBackoffSeconds',
  'agent',
  'repositoryId',
  'instructions',
  'steps',
  'deliverables',
  'acceptance',
  'acceptanceScript',
  'inputContext',
  'metadata',
  'tags',
  'concurrencyKey',
  'concurrencyLimit',
] as const satisfies (keyof components['schemas']['CreateTask'] & keyof Task)[];

/** The API shows this in place of a secret. */
const HIDDEN = '[redacted]';
/** The capability of a task that is assigned to one agent. */
const ASSIGNED = /^agent:([0-9a-f-]{36})$/;

export interface Duplicate {
  fields: TaskPrefill;
  /** The hidden values that the fields lack, as the form names them: `Secrets API_KEY`. */
  hidden: string[];
}

/**
 * The fields of a task that a new task of the same work has. Times are left out, and so are the
 * dependencies, because they have completed. A text with a hidden part keeps the rest.
 */
export function toDuplicate(task: Task): Duplicate {
  const hidden = Object.keys(task.secrets ?? {}).map((name) => nameField(`secrets.${name}`));
  const fields: Record<string, unknown> = {};
  for (const name of COPIED) {
    const value = omitHidden(task[name], (path) => {
      // The form has one field for the settings of the agent.
      const [field = '', ...rest] = name === 'agent' ? path : [name, ...path];
      hidden.push(nameField([field, ...rest].join('.')));
    });
    // Null is "no time limit", and otherwise an absent field.
    const isGiven = name === 'timeoutSeconds' || (value !== null && String(value) !== '');
    if (isGiven) fields[name] = value;
  }
  return {
    fields: {
      ...fields,
      ...splitCapabilities(task),
      ...(task.estimateSource === 'given' && { estimatedTokens: task.estimatedTokens }),
    },
    hidden,
  };
}

/** The agent that a task is assigned to, and the capabilities that it requires otherwise. */
export function splitCapabilities({ requiredCapabilities }: Pick<Task, 'requiredCapabilities'>) {
  const agentId = requiredCapabilities.map((one) => ASSIGNED.exec(one)?.[1]).find(Boolean);
  return {
    requiredCapabilities: requiredCapabilities.filter((one) => !ASSIGNED.test(one)),
    ...(agentId !== undefined && { agentId }),
  };
}

/**
 * The value without the fields that the API hides. A list with a hidden item goes as a whole,
 * because the others would move to its place.
 */
function omitHidden(
  value: unknown,
  onHidden: (path: string[]) => void,
  path: string[] = [],
): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => omitHidden(item, onHidden, [...path, String(index)]));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, child]) => {
        const to = [...path, name];
        if (!isHidden(child)) return [[name, omitHidden(child, onHidden, to)]];
        onHidden(to);
        return [];
      }),
    );
  if (isHidden(value)) onHidden(path);
  return value;
}

function isHidden(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => typeof item === 'string' && isHidden(item));
  return typeof value === 'string' && value.includes(HIDDEN);
}
