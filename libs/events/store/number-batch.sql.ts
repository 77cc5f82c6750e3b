import { command, query } from '#lib/database';
import type { NumberedEvent } from '../domain/message.js';

/**
 * Takes the next unpublished events in the order of their ids, gives each the next number of its
 * workspace, and notes them as in flight in place of the batch before, in one statement.
 *
 * Caller: EventRelay, under the relay's lease. Index: outbox_events_unpublished_idx, primary key.
 * $1 events at most, $2 the id after which to look.
 *
 * Measured on 100,000 events, 500 a batch: 12 ms a batch.
 * Tried: two updates of each event, one for the number and one for the publication, instead of the
 * note in outbox_relay. Neither can be HOT, and it took 1.5 times as long.
 * Tried: the message as jsonb in SQL (payload || jsonb_build_object(…)): 21 ms a batch instead of 12.
 */
export const numberBatch = command<NumberedEvent>(
  'outbox_number_batch',
  `
WITH batch AS MATERIALIZED (
  SELECT id, workspace_id FROM outbox_events
  WHERE published_at IS NULL AND id > $2
  ORDER BY id
  LIMIT $1
),
counters AS (
  INSERT INTO outbox_counters AS c (workspace_id, last_seq)
  SELECT workspace_id, count(*) FROM batch GROUP BY workspace_id ORDER BY workspace_id
  ON CONFLICT (workspace_id) DO UPDATE SET last_seq = c.last_seq + EXCLUDED.last_seq
  RETURNING workspace_id, last_seq
),
placed AS MATERIALIZED (
  SELECT b.id,
    c.last_seq + 1 - row_number() OVER (PARTITION BY b.workspace_id ORDER BY b.id DESC) AS seq
  FROM batch b JOIN counters c ON c.workspace_id = b.workspace_id
),
numbered AS (
  UPDATE outbox_events e SET workspace_seq = p.seq, published_at = now() FROM placed p
  WHERE e.id = p.id
  RETURNING e.id, e.workspace_id, e.subject_kind, e.workspace_seq, e.payload
),
in_flight AS (
  UPDATE outbox_relay SET in_flight = ARRAY(SELECT id FROM placed ORDER BY id) WHERE id = 1
)
SELECT id, workspace_id, subject_kind, workspace_seq, payload::text FROM numbered ORDER BY numbered.id`,
);

/**
 * The events that a former relay, or a failed attempt of this one, had in flight.
 *
 * Caller: EventRelay, under the relay's lease. Index: primary key. $1 ids.
 */
export const readInFlight = query<NumberedEvent>(
  'outbox_read_in_flight',
  `
SELECT id, workspace_id, subject_kind, workspace_seq, payload::text
FROM outbox_events
WHERE id = ANY($1::bigint[]) AND workspace_seq IS NOT NULL
ORDER BY id`,
);
