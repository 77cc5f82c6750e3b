import type { SqlRunner } from '#lib/database';
import { traceparentWithin } from '#lib/kernel';
import { type Leased, readTraces } from '../store/sending.sql.js';

/**
 * The header `traceparent` of messages about tasks: the task's span, so that the receiver's spans
 * appear below it.
 *
 * @returns by event id, for traced tasks
 */
export async function traceparentsOf(
  runner: SqlRunner,
  { workspace_id, deliveries }: Leased,
): Promise<Map<string, string>> {
  const tasks = deliveries.map(({ event_id, payload }) => [event_id, taskOf(payload)] as const);
  const ids = [...new Set(tasks.map(([, id]) => id))].filter((id) => id !== undefined);
  if (ids.length === 0) return new Map();
  const rows = await runner.rows(readTraces, [ids.map(() => workspace_id), ids]);
  const outer = new Map(rows.map(({ id, traceparent }) => [id, traceparent]));
  const found = new Map<string, string>();
  for (const [event, id] of tasks) {
    const traceparent = id && traceparentWithin(outer.get(id) ?? null, id);
    if (traceparent) found.set(event, traceparent);
  }
  return found;
}

function taskOf(payload: string | null): string | undefined {
  if (payload === null) return undefined;
  return (JSON.parse(payload) as { taskId?: string | null }).taskId ?? undefined;
}
