import { command, query } from '#lib/database';
import { dueOf } from './webhooks.sql.js';

export type DeliveryState = 'pending' | 'delivered' | 'dead';

export interface AttemptRow {
  number: number;
  started_at: string;
  duration_ms: number;
  url: string;
  status: number | null;
  error: string | null;
  answer: string | null;
}

export interface DeliveryRow {
  event_id: string;
  event: string;
  /** Null a day after a delivered event. */
  payload: string | null;
  occurred_at: Date;
  state: DeliveryState;
  next_attempt_at: Date | null;
  created_at: Date;
  attempts: AttemptRow[];
}

/** Maximum number of attempts of a delivery in a list. */
const SHOWN_ATTEMPTS = 20;

/**
 * SQL: deliveries of one state, or of any. Waiting and dead ones have their own index, which a
 * generic plan can use only if the statement is restricted to them.
 */
const OF_STATE = {
  any: (row: string, state: string) => `(${state}::text IS NULL OR ${row}.state = ${state})`,
  open: (row: string, state: string) => `${row}.state = ${state} AND ${row}.state <> 'delivered'`,
};

type Which = keyof typeof OF_STATE;

/** The statement for a state. */
export function whichOf(state: DeliveryState | null): Which {
  return state === 'pending' || state === 'dead' ? 'open' : 'any';
}

/**
 * Newest events first, each with its last attempts. Indexes: primary keys,
 * webhook_deliveries_open_idx for waiting and dead ones. Partitions of attempts from before the
 * oldest delivery of the page are not read. 51 of 100,000 in 30 days read 12 buffers at the newest
 * and 68 at the oldest end (210 without partitions). That takes 4 ms on a busy machine (1.2 ms
 * without partitions), most of it to plan and open 34 partitions. A subquery for each delivery read
 * 680 and 3,700 buffers. $1 workspace, $2 webhook, $3 state or NULL, $4 last id of the previous page
 * or NULL, $5 maximum number of rows.
 */
const listing = (name: string, which: Which) =>
  query<DeliveryRow>(
    name,
    `
WITH page AS MATERIALIZED (
  SELECT d.* FROM webhook_deliveries d
  WHERE d.workspace_id = $1 AND d.webhook_id = $2 AND ${OF_STATE[which]('d', '$3')}
    AND ($4::bigint IS NULL OR d.event_id < $4)
  ORDER BY d.event_id DESC LIMIT $5
),
tried AS (
  SELECT a.event_id, jsonb_agg(to_jsonb(a) - '{workspace_id,webhook_id,event_id,recency}'::text[] ORDER BY a.number) AS attempts
  FROM (
    SELECT t.*, row_number() OVER (PARTITION BY t.event_id ORDER BY t.number DESC) AS recency
    FROM webhook_attempts t
    WHERE t.workspace_id = $1 AND t.webhook_id = $2 AND t.event_id = ANY (ARRAY(SELECT p.event_id FROM page p))
      -- By the clock of the sender.
      AND t.started_at >= (SELECT min(p.created_at) - interval '1 day' FROM page p)) a
  WHERE a.recency <= ${SHOWN_ATTEMPTS} GROUP BY a.event_id
)
SELECT p.event_id, p.event, p.payload, p.occurred_at, p.state, p.next_attempt_at, p.created_at,
  coalesce(t.attempts, '[]') AS attempts
FROM page p LEFT JOIN tried t ON t.event_id = p.event_id
ORDER BY p.event_id DESC`,
  );

export const listDeliveries = {
  any: listing('webhooks_list_deliveries', 'any'),
  open: listing('webhooks_list_open_deliveries', 'open'),
};

/** An id for a message without a row in the journal. */
export const drawEventId = command<{ id: string }>(
  'draw_event_id',
  `SELECT 2 * nextval('journal_id_seq') AS id`,
);

/** $1 workspace, $2 webhook, $3 id of the message, $4 event, $5 payload. */
export const insertDelivery = command<DeliveryRow>(
  'webhooks_insert_delivery',
  `
INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, event, payload, occurred_at)
VALUES ($1, $2, $3, $4, $5, now())
RETURNING event_id, event, payload, occurred_at, state, next_attempt_at, created_at, '[]'::jsonb AS attempts`,
);

/**
 * SQL: the deliveries of a replay, which still have their bodies. $1 workspace, $2 webhook, $3 ids or NULL, $4 state or NULL, $5
 * and $6 bounds of the events' times or NULL.
 */
const wanted = (
  which: Which,
) => `c.workspace_id = $1 AND c.webhook_id = $2 AND c.payload IS NOT NULL
    AND ($3::bigint[] IS NULL OR c.event_id = ANY ($3)) AND ${OF_STATE[which]('c', '$4')} AND ($5::timestamptz IS NULL OR c.occurred_at >= $5)
    AND ($6::timestamptz IS NULL OR c.occurred_at < $6)`;

/**
 * The number of deliveries of a replay, with the first and the last. NULL if there are none. Index:
 * primary key, webhook_deliveries_open_idx for waiting and dead ones. 30,000 dead of 100,000: 6 ms.
 * By time it reads all deliveries of the webhook: 59 ms. $1 to $6 as above, $7 maximum number of
 * rows.
 */
const measuring = (name: string, which: Which) =>
  query<{ count: number; first: string | null; last: string | null }>(
    name,
    `
SELECT count(*)::int AS count, min(r.event_id)::text AS first, max(r.event_id)::text AS last
FROM (SELECT c.event_id FROM webhook_deliveries c WHERE ${wanted(which)} ORDER BY c.event_id LIMIT $7) r`,
  );

export const measureReplay = {
  any: measuring('webhooks_measure_replay', 'any'),
  open: measuring('webhooks_measure_open_replay', 'open'),
};

/**
 * Resets deliveries so that they are sent again. After lockWebhook. Index: primary key,
 * webhook_deliveries_open_idx for waiting and dead ones. 1,000 of 100,000: 20 ms. $1 to $6 as
 * above, $7 and $8 the first and the last id, $9 maximum number of rows. @returns in no order
 */
const replaying = (name: string, which: Which) =>
  command<{ event_id: string }>(
    name,
    `
-- Materialized: read again and again by a join, it would go on behind the rows that it has just changed.
WITH r AS MATERIALIZED (SELECT c.event_id FROM webhook_deliveries c
  WHERE ${wanted(which)} AND c.event_id BETWEEN $7::bigint AND $8::bigint
  ORDER BY c.event_id LIMIT $9 FOR NO KEY UPDATE)
UPDATE webhook_deliveries d
SET state = 'pending', failures = 0, next_attempt_at = now(), give_up_at = now() + interval '24 hours', left_to = '{}'
FROM r
WHERE d.workspace_id = $1 AND d.webhook_id = $2 AND d.event_id = r.event_id
RETURNING d.event_id`,
  );

export const replayDeliveries = {
  any: replaying('webhooks_replay_deliveries', 'any'),
  open: replaying('webhooks_replay_open_deliveries', 'open'),
};

/**
 * Makes the webhook due. After lockWebhook. Ends a pause after failures. $1 workspace, $2 webhook.
 */
export const setDue = command<never>(
  'webhooks_set_due',
  `
UPDATE webhooks w SET paused_until = NULL, due_at = ${dueOf('w', 'NULL::timestamptz')}
WHERE w.workspace_id = $1 AND w.id = $2`,
);

/**
 * After lockAll. Index: primary keys. 1,000 beside 100,000: 16 ms. $1 JSON array of NewDelivery.
 * @returns the new ones
 */
export const insertDeliveries = command<{ webhook_id: string }>(
  'webhooks_insert_deliveries',
  `
WITH input AS MATERIALIZED (
  SELECT x.* FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, webhook_id uuid, event_id bigint, event text,
    payload text, occurred_at timestamptz)
  JOIN webhooks w ON w.workspace_id = x.workspace_id AND w.id = x.webhook_id AND w.disabled_at IS NULL
),
added AS (
  INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, event, payload, occurred_at)
  SELECT workspace_id, webhook_id, event_id, event, payload, occurred_at FROM input
  ON CONFLICT (workspace_id, webhook_id, event_id) DO NOTHING
  RETURNING workspace_id, webhook_id
)
UPDATE webhooks w SET due_at = least(w.due_at, greatest(now(), w.paused_until))
FROM (SELECT DISTINCT workspace_id, webhook_id FROM added) a
WHERE w.workspace_id = a.workspace_id AND w.id = a.webhook_id
RETURNING w.id AS webhook_id`,
);

/**
 * In one order, as everywhere with several locks. Index: primary key. $1 workspaces, $2 their
 * webhooks.
 */
export const lockAll = query<{ id: string }>(
  'webhooks_lock_all',
  `
SELECT w.id FROM unnest($1::uuid[], $2::uuid[]) AS x (workspace_id, id)
JOIN webhooks w ON w.workspace_id = x.workspace_id AND w.id = x.id
ORDER BY w.workspace_id, w.id FOR NO KEY UPDATE OF w`,
);

export interface Subscription {
  workspace_id: string;
  id: string;
  events: string[];
  /** Milliseconds since 1970. */
  created_at: number;
}

/** The filters of the enabled webhooks of some workspaces. Index: primary key. $1 workspaces. */
export const readSubscriptions = query<Subscription>(
  'webhooks_read_subscriptions',
  `
SELECT w.workspace_id, w.id, w.events, (extract(epoch FROM w.created_at) * 1000)::float8 AS created_at FROM webhooks w
WHERE w.workspace_id = ANY ($1::uuid[]) AND w.disabled_at IS NULL`,
);

/** At most $1 workspaces with enabled webhooks. Webhooks are few, so all are read. */
export const readSubscribed = query<{ workspace_id: string }>(
  'webhooks_read_subscribed',
  `SELECT DISTINCT workspace_id FROM webhooks WHERE disabled_at IS NULL LIMIT $1`,
);

/**
 * Removes the bodies of at most $1 delivered messages that are older than a day. A delivery that is
 * being replayed is left alone. Index: webhook_deliveries_body_idx, which has no other rows than
 * these and those of the last day.
 */
export const removeBodies = command<{ event_id: string }>(
  'webhooks_remove_bodies',
  `
WITH o AS MATERIALIZED (
  SELECT c.workspace_id, c.webhook_id, c.event_id FROM webhook_deliveries c
  WHERE c.state = 'delivered' AND c.payload IS NOT NULL AND c.created_at < now() - interval '1 day'
  ORDER BY c.created_at LIMIT $1 FOR NO KEY UPDATE OF c SKIP LOCKED)
UPDATE webhook_deliveries d SET payload = NULL FROM o
WHERE d.workspace_id = o.workspace_id AND d.webhook_id = o.webhook_id AND d.event_id = o.event_id
RETURNING d.event_id`,
);

/**
 * Creates the partitions of attempts of the next days, and drops old ones. $1 days ahead, $2 days of
 * retention.
 */
export const renewAttemptPartitions = command<{ dropped: string[] }>(
  'webhooks_renew_attempt_partitions',
  `SELECT renew_attempt_partitions($1, make_interval(days => $2)) AS dropped`,
);

/**
 * Removes at most $2 deliveries older than $1 days. Waiting ones stay, unless
 * their webhook is deleted. A delivery that is being replayed is left alone. Index:
 * webhook_deliveries_age_idx, from $3 on (NULL: from the oldest), so that remaining rows are not
 * read for each batch. 5,000 of 100,000: 100 ms on a busy machine (250 ms when a foreign key removed
 * their attempts).
 */
export const pruneDeliveries = command<{ created_at: Date }>(
  'webhooks_prune_deliveries',
  `
WITH o AS MATERIALIZED (
  SELECT c.workspace_id, c.webhook_id, c.event_id FROM webhook_deliveries c
  WHERE c.created_at < now() - make_interval(days => $1) AND c.created_at >= coalesce($3::timestamptz, '-infinity')
    AND (c.state <> 'pending' OR NOT EXISTS (
      SELECT FROM webhooks w WHERE w.workspace_id = c.workspace_id AND w.id = c.webhook_id))
  ORDER BY c.created_at LIMIT $2 FOR UPDATE OF c SKIP LOCKED)
DELETE FROM webhook_deliveries d USING o
WHERE d.workspace_id = o.workspace_id AND d.webhook_id = o.webhook_id AND d.event_id = o.event_id
RETURNING d.created_at`,
);
