import type { components } from '#lib/api-client';
import type { Task } from './status.js';

type NewTask = Partial<components['schemas']['CreateTask']>;

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
  'requiredCapabilities',
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
] as const satisfies (keyof NewTask & keyof Task)[];

/**
 * The fields of a task that a new task of the same work has, for the address of the form. Secrets
 * and times are left out, and so are the dependencies, because they have completed.
 */
export function toDuplicate(task: Task): NewTask {
  const fields = COPIED.map((name) => [name, task[name]] as const);
  const given = fields.filter(([, value]) => value !== null && String(value) !== '');
  return Object.fromEntries(given) as NewTask;
}
