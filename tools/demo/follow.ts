import type { CleanupScope } from '#lib/local-servers';
import type { components, DroverClient, operations } from '#lib/api-client';
import { Sentence } from '../shared/sentence.js';
import { PATIENCE_MS } from './settings.js';

export type Task = components['schemas']['Task'];
type Filter = operations['listTasks']['parameters']['query'];

/** All tasks have finished, or the others wait for a task that failed. */
function isSettled(tasks: readonly Task[]): boolean {
  const open = tasks.filter((task) => !isOver(task));
  const endedBadly = tasks.some((task) => isOver(task) && task.status !== 'COMPLETED');
  return open.length === 0 || (endedBadly && open.every((task) => task.unmetDependencies > 0));
}

const LOOK_EVERY_MS = 150;
const LONGEST_PAGE = 100;

/** Finished without a scheduled retry. */
export function isOver({ status, retryAt }: Task): boolean {
  return ['COMPLETED', 'FAILED', 'ARCHIVED'].includes(status) || (status === 'ABORTED' && !retryAt);
}

export interface FollowOptions {
  scope: CleanupScope;
  /** Narrows a list of tasks so that its first page has all of them. */
  filter: Filter;
  /** Receives the result of each poll, in the order of the ids. */
  see?: (tasks: Task[]) => void;
  everyMs?: number;
}

/**
 * Polls the tasks with these ids until all have finished.
 *
 * @throws Sentence when it takes too long
 */
export async function follow(
  member: DroverClient,
  ids: readonly string[],
  options: FollowOptions,
): Promise<Task[]> {
  const { scope, filter, see, everyMs = LOOK_EVERY_MS } = options;
  const giveUpAt = performance.now() + PATIENCE_MS;
  const order = new Map(ids.map((id, index) => [id, index]));
  for (;;) {
    const params = { query: { ...filter, limit: LONGEST_PAGE } };
    const { items } = await member.get('/api/v1/agent-tasks', { params });
    const tasks = items
      .filter(({ id }) => order.has(id))
      .sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
    see?.(tasks);
    if (tasks.length === ids.length && isSettled(tasks)) return tasks;
    if (performance.now() > giveUpAt) {
      const open = tasks
        .filter((task) => !isOver(task))
        .map(({ title, status }) => `${title} (${status})`);
      throw new Sentence(`The job is not done after ${PATIENCE_MS / 1000} s: ${open.join(', ')}.`);
    }
    if (scope.signal.aborted) throw new Sentence('Stopped.');
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
