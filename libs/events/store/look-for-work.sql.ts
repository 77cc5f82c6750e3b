import { query } from '#lib/database';

export interface Outlook {
  /** Whether an event waits that this relay can see. */
  waiting: boolean;
  /** Whether another relay has the lease. */
  elsewhere: boolean;
}

/**
 * The idle relay's look, a read and no more: an idle installation writes nothing.
 *
 * Caller: EventRelay, as the service role. Index: outbox_events_unpublished_idx (its first entry).
 * $1 owner, $2 the id after which to look (see ScanFloor).
 */
export const lookForWork = query<Outlook>(
  'outbox_look_for_work',
  `
SELECT
  r.in_flight <> '{}' OR EXISTS (
    SELECT FROM outbox_events e WHERE e.published_at IS NULL AND e.id > $2) AS waiting,
  coalesce(r.owner <> $1 AND r.leased_until > now(), false) AS elsewhere
FROM outbox_relay r WHERE r.id = 1`,
);
