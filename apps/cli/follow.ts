import { setTimeout as delay } from 'node:timers/promises';
import type { components, DroverClient } from '#lib/api-client';
import { isOver, type Task } from './task-view.js';

export type Log = components['schemas']['TaskLogEntry'];

const LOOK_EVERY_MS = 500;
const PAGE = 200;

/**
 * The log of a task, the oldest first; with `follow`, what comes after it, until the task is over and everything
 * was read.
 */
export async function* logOf(
  drover: DroverClient,
  id: string,
  options: { follow: boolean; signal?: AbortSignal; level?: Log['level'] },
): AsyncGenerator<Log> {
  const { signal, level } = options;
  let cursor: string | undefined;
  for (;;) {
    // Asked before the log: what was written until the end is in the pages that follow. They show the latest entries
    // too, which a follower is shown only when no other can come before them.
    const over = !options.follow || isOver(await readTask(drover, id, signal));
    const query = {
      order: 'asc' as const,
      limit: PAGE,
      ...(!over && { follow: 'true' as const }),
      ...(cursor !== undefined && { cursor }),
      ...(level && { level }),
    };
    const params = { path: { id }, query };
    const page = await drover.get('/api/v1/agent-tasks/{id}/logs', { params, signal });
    yield* page.items;
    cursor = page.nextCursor ?? cursor;
    if (over && page.nextCursor === null) return;
    if (page.items.length === 0) await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

export function readTask(drover: DroverClient, id: string, signal?: AbortSignal): Promise<Task> {
  return drover.get('/api/v1/agent-tasks/{id}', { params: { path: { id } }, signal });
}
