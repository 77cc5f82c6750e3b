import type { components } from '#lib/api-client';
import { splitCapabilities } from './duplicate.js';
import type { Task } from './status.js';
import { toFormValues, toTaskDraft } from './task-draft.js';

type UpdateTask = components['schemas']['UpdateTask'];

/** The fields that a change can empty, with their empty values. */
const EMPTY = {
  description: null,
  projectId: null,
  milestoneId: null,
  agentId: null,
  requiredCapabilities: [],
  tags: [],
  metadata: {},
  secrets: {},
  estimatedDurationMinutes: null,
  estimatedComplexity: null,
  estimatedTokens: null,
  timeoutSeconds: null,
} as const satisfies UpdateTask;

const FIELDS = ['title', 'priority', 'maxRetries', 'retryBackoffSeconds', ...Object.keys(EMPTY)];

/** The texts of the fields of a form that changes a task. */
export function toValuesOfTask(task: Task): Record<string, string> {
  const { estimateSource, estimatedTokens, ...rest } = task;
  const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
  return toFormValues({
    ...(known as Partial<components['schemas']['CreateTask']>),
    ...splitCapabilities(task),
    timeoutSeconds: task.timeoutSeconds,
    ...(estimateSource === 'given' && { estimatedTokens }),
  });
}

/**
 * The request for the fields that a user has changed. The others stay out of it, so that it keeps
 * what agents and other users have changed since.
 *
 * @throws FormError if a field is invalid JSON
 */
export function toTaskChange(form: FormData, task: Task): UpdateTask {
  const before = toValuesOfTask(task);
  const draft: Record<string, unknown> = { ...toTaskDraft(form) };
  const changed = FIELDS.filter((name) => {
    const value = form.get(name);
    return typeof value === 'string' && lines(value) !== lines(before[name] ?? '');
  });
  return Object.fromEntries(
    changed.map((name) => [name, draft[name] ?? EMPTY[name as keyof typeof EMPTY]]),
  );
}

/** The text with the line ends of a form. */
const lines = (text: string) => text.replace(/\r\n?/g, '\n');
