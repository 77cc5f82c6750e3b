import type pg from 'pg';
import { messagesOf } from '#lib/journal';

type Row = Parameters<typeof messagesOf>[0];

/** Returns the messages that subscribers of a workspace receive for one name of event, in order. */
export async function eventsOf(
  owner: pg.Pool,
  workspaceId: string,
  event: string,
): Promise<Record<string, unknown>[]> {
  const { rows } = await owner.query<Row>(
    `SELECT j.*, (extract(epoch FROM j.retry_at) * 1000)::float8 AS retry_at,
       (extract(epoch FROM j.created_at) * 1000)::float8 AS created_at
     FROM journal j WHERE j.workspace_id = $1 ORDER BY j.id`,
    [workspaceId],
  );
  const bodies = rows.flatMap(messagesOf).map(({ body }) => body);
  return bodies.filter((body) => body['event'] === event);
}
