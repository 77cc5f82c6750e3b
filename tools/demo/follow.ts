import type { CleanupScope } from '#lib/embedded';
import type { Api, Json } from '../shared/api.js';
import { Sentence } from '../shared/sentence.js';
import { PATIENCE_MS } from './settings.js';

/** A task as the API shows it; what the demo looks at. */
export interface Task {
  id: string;
  title: string;
  status: string;
  agentId: string | null;
  progressPercent: number;
  currentStep: string | null;
  checkpointData: Json;
  retryAt: string | null;
  abortReason: string | null;
  lastError: string | null;
  unmetDependencies: number;
  generation: number;
  summary: string | null;
  createdAt: string;
  readyAt: string | null;
  assignedAt: string | null;
  completedAt: string | null;
}

/** All over, or what is left waits for a task that ended badly: no look will find it otherwise. */
function isSettled(tasks: readonly Task[]): boolean {
  const open = tasks.filter((task) => !isOver(task));
  const endedBadly = tasks.some((task) => isOver(task) && task.status !== 'COMPLETED');
  return open.length === 0 || (endedBadly && open.every((task) => task.unmetDependencies > 0));
}

const LOOK_EVERY_MS = 150;

/** Over, with no retry to come. */
export function isOver({ status, retryAt }: Task): boolean {
  return ['COMPLETED', 'FAILED', 'ARCHIVED'].includes(status) || (status === 'ABORTED' && !retryAt);
}

export interface FollowOptions {
  scope: CleanupScope;
  /** Of the list of tasks that has all of them. */
  path: string;
  /** Told of each look, in the order of the ids. */
  see?: (tasks: Task[]) => void;
  everyMs?: number;
}

/**
 * Looks at the tasks with these ids again and again until all are over.
 *
 * @throws Sentence when it takes too long
 */
export async function follow(
  member: Api,
  ids: readonly string[],
  options: FollowOptions,
): Promise<Task[]> {
  const { scope, path, see, everyMs = LOOK_EVERY_MS } = options;
  const giveUpAt = performance.now() + PATIENCE_MS;
  const order = new Map(ids.map((id, index) => [id, index]));
  for (;;) {
    const { items } = await member.get<{ items: Task[] }>(path);
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
