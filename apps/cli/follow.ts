import { setTimeout as delay } from 'node:timers/promises';
import type { components, DroverClient } from '#lib/api-client';
import { isFinished, type Task } from './task-view.js';

export type Log = components['schemas']['TaskLogEntry'];

const POLL_MS = 500;
const PAGE = 200;

/**
 * Reads the log of a task, oldest entry first. With `follow`, it continues until the task is
 * finished and all entries were read.
 */
export async function* readLog(
  drover: DroverClient,
  id: string,
  options: {
    follow: boolean;
    signal?: AbortSignal;
    level?: Log['level'];
    /** Ends the wait before the task is finished. */
    until?: (task: Task) => Promise<boolean>;
  },
): AsyncGenerator<Log> {
  const { signal, level, until } = options;
  const isOver = async (task: Task) => isFinished(task) || (await until?.(task)) === true;
  let cursor: string | undefined;
  for (;;) {
    // The status is read before the log, so the next pages contain all entries of a finished task.
    // They also contain the latest entries, which `follow` withholds until their order is final.
    const isDone = !options.follow || (await isOver(await readTask(drover, id, signal)));
    const query = {
      order: 'asc' as const,
      limit: PAGE,
      ...(!isDone && { follow: 'true' as const }),
      ...(cursor !== undefined && { cursor }),
      ...(level && { level }),
    };
    const params = { path: { id }, query };
    const page = await drover.get('/api/v1/agent-tasks/{id}/logs', { params, signal });
    yield* page.items;
    cursor = page.nextCursor ?? cursor;
    if (isDone && page.nextCursor === null) return;
    if (page.items.length === 0) await delay(POLL_MS, undefined, { signal });
  }
}

export function readTask(drover: DroverClient, id: string, signal?: AbortSignal): Promise<Task> {
  return drover.get('/api/v1/agent-tasks/{id}', { params: { path: { id } }, signal });
}
