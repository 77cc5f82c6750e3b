import { command } from '#lib/database';

/**
 * Removes events published longer ago than they are kept, out of the $2 oldest; $1 days.
 *
 * Caller: EventPruner, as the service role. Index: primary key, from its start. The ids are in the
 * order of time or nearly so, and looking at the oldest only needs no index on published_at, which
 * every publication would have to pay for. An event in flight is never that old, or is kept with it.
 */
export const pruneEvents = command<{ removed: number }>(
  'outbox_prune_events',
  `
WITH oldest AS MATERIALIZED (
  SELECT id, published_at FROM outbox_events ORDER BY id LIMIT $2
),
pruned AS (
  DELETE FROM outbox_events WHERE id = ANY(ARRAY(
    SELECT o.id FROM oldest o
    WHERE o.published_at < now() - make_interval(days => $1)
      AND NOT EXISTS (SELECT FROM outbox_relay r WHERE o.id = ANY(r.in_flight))))
  RETURNING 1
)
SELECT count(*)::int AS removed FROM pruned`,
);
