import { command, query } from '#lib/database';
import type { Kind, NoticeSettings } from '../domain/kinds.js';
import { dueOf, graceOf } from './webhooks.sql.js';

export interface DueDelivery {
  event_id: string;
  event: string;
  /** The status in the event. Null if it has none. */
  status: string | null;
  /** Null after the events that are listed one by one. */
  payload: string | null;
  /** Recipients without the message. Empty means all. */
  left_to: string[];
  /** Attempts so far. */
  attempts: number;
  /** Consecutive failures since it was added or replayed. */
  failures: number;
  left_ms: number;
}

/** A webhook with its due messages that this process can send until the lease ends. */
export interface Leased {
  workspace_id: string;
  id: string;
  lease: string;
  kind: Kind;
  url: string;
  hub_signature: boolean;
  recipients: string[];
  notice: NoticeSettings | null;
  /** The database's clock, in milliseconds since 1970. */
  now_ms: number;
  /** Consecutive failed attempts. */
  failures: number;
  deliveries: DueDelivery[];
}

/** Maximum number of events that one notice joins. */
const JOINED = 1_000;
/** Maximum number of events that a notice can list. Their payloads are read. */
const TOLD = 50;

/** SQL: locks webhooks with due messages, the longest wait first. */
const due = (condition: string, limit: string) => `
  SELECT workspace_id, id FROM webhooks
  WHERE due_at <= now() AND ${condition} AND (leased_until IS NULL OR leased_until <= now() OR lease = $3)
  ORDER BY due_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`;

/**
 * Leases webhooks with due messages and reads these: several of a working webhook, one of a failing
 * webhook as a probe, and as many as one notice can join. A webhook has one turn, however many
 * messages wait. A repetition with the same lease returns the webhooks of a lost answer again.
 *
 * Indexes: webhooks_due_idx, webhooks_failing_due_idx, webhook_deliveries_due_idx. 286 of 10,000
 * webhooks, one with 20,000 waiting deliveries: 9 ms. $1 maximum number of working webhooks, $2
 * maximum number of failing webhooks, $3 lease, $4 seconds, $5 maximum number of messages of each.
 */
export const leaseDue = command<Leased>(
  'webhooks_lease_due',
  `
WITH working AS MATERIALIZED (${due('failures = 0', '$1')}
),
failing AS MATERIALIZED (${due('failures > 0', '$2')}
),
leased AS (
  UPDATE webhooks w SET lease = $3, leased_until = now() + make_interval(secs => $4)
  FROM (SELECT * FROM working UNION ALL SELECT * FROM failing) due
  WHERE w.workspace_id = due.workspace_id AND w.id = due.id
  RETURNING w.workspace_id, w.id, w.lease, w.kind, w.url, w.hub_signature, w.recipients, w.notice, w.failures,
    ${graceOf('w')} AS grace_until
)
SELECT l.workspace_id, l.id, l.lease, l.kind, l.url, l.hub_signature, l.recipients, l.notice, l.failures,
  (extract(epoch FROM now()) * 1000)::float8 AS now_ms, coalesce((
  SELECT jsonb_agg(jsonb_build_object('event_id', d.event_id::text, 'event', d.event, 'left_to', d.left_to,
    'status', CASE WHEN l.kind <> 'signed' THEN d.payload::jsonb ->> 'newStatus' END,
    'payload', CASE WHEN d.place <= ${TOLD} THEN d.payload END, 'attempts', d.attempts, 'failures', d.failures, 'left_ms',
    round(extract(epoch FROM greatest(d.give_up_at, l.grace_until) - now()) * 1000)) ORDER BY d.place)
  FROM (SELECT x.*, row_number() OVER (ORDER BY x.next_attempt_at, x.event_id) AS place FROM webhook_deliveries x
    WHERE x.workspace_id = l.workspace_id AND x.webhook_id = l.id AND x.state = 'pending' AND x.next_attempt_at <= now()
    ORDER BY x.next_attempt_at, x.event_id
    LIMIT CASE WHEN l.kind <> 'signed' THEN ${JOINED} WHEN l.failures > 0 THEN 1 ELSE $5::int END) d), '[]') AS deliveries
FROM leased l`,
);

/** The trace contexts of traced tasks. Index: primary key. $1 workspaces, $2 their tasks. */
export const readTraces = query<{ id: string; traceparent: string }>(
  'webhooks_read_traces',
  `
SELECT t.id, t.traceparent FROM unnest($1::uuid[], $2::uuid[]) AS x (workspace_id, id)
JOIN agent_tasks t ON t.workspace_id = x.workspace_id AND t.id = x.id AND t.traceparent IS NOT NULL`,
);

/**
 * The webhooks whose leases are unchanged. Index: primary key. $1 workspaces, $2 their webhooks, $3
 * leases.
 */
export const lockLeased = query<{ id: string }>(
  'webhooks_lock_leased',
  `
SELECT w.id FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS x (workspace_id, id, lease)
JOIN webhooks w ON w.workspace_id = x.workspace_id AND w.id = x.id AND w.lease = x.lease
ORDER BY w.workspace_id, w.id FOR NO KEY UPDATE OF w`,
);

/**
 * Stores the results of attempts. A message that was replayed meanwhile is sent again. Index:
 * primary keys, webhook_deliveries_open_idx. 1,000 of 100,000: 15,600 buffers, 29 ms. A foreign key of
 * attempts took 1,000 more. $1 JSON array of Result.
 */
export const recordAttempts = command<{ event_id: string }>(
  'webhooks_record_attempts',
  `
WITH input AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, webhook_id uuid, event_id bigint, number integer,
    started_at timestamptz, duration_ms integer, url text, status integer, error text, answer text, state text,
    failures integer, in_ms float8, left_to uuid[])
),
logged AS (
  INSERT INTO webhook_attempts (workspace_id, webhook_id, event_id, number, started_at, duration_ms, url, status, error, answer)
  SELECT workspace_id, webhook_id, event_id, number, started_at, duration_ms, url, status, error, answer FROM input
  ON CONFLICT DO NOTHING
)
UPDATE webhook_deliveries d SET attempts = i.number, state = i.state, failures = i.failures, left_to = i.left_to,
  next_attempt_at = CASE WHEN i.state = 'pending' THEN now() + make_interval(secs => i.in_ms / 1000) END
FROM input i
WHERE d.workspace_id = i.workspace_id AND d.webhook_id = i.webhook_id AND d.event_id = i.event_id AND d.state = 'pending'
RETURNING d.event_id`,
);

/**
 * Holds deliveries until quiet hours end. Their 24 hours start then. Index:
 * webhook_deliveries_open_idx. 1,000 of 100,000: 24 ms. $1 JSON array of Held.
 */
export const holdDeliveries = command<never>(
  'webhooks_hold_deliveries',
  `
UPDATE webhook_deliveries d SET next_attempt_at = h.until, give_up_at = greatest(d.give_up_at, h.until + interval '24 hours')
FROM (SELECT x.workspace_id, x.webhook_id, to_timestamp(x.until_ms / 1000) AS until, unnest(x.event_ids) AS event_id
  FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, webhook_id uuid, until_ms float8, event_ids bigint[])) h
WHERE d.workspace_id = h.workspace_id AND d.webhook_id = h.webhook_id AND d.event_id = h.event_id AND d.state = 'pending'`,
);

/**
 * Releases held deliveries without an attempt, after quiet hours changed. After lockWebhook. Index:
 * webhook_deliveries_due_idx. $1 workspace, $2 webhook, $3 maximum number of rows; later ones keep
 * their time.
 */
export const releaseHeld = command<never>(
  'webhooks_release_held',
  `
UPDATE webhook_deliveries d SET next_attempt_at = now()
FROM (SELECT x.event_id FROM webhook_deliveries x
  WHERE x.workspace_id = $1 AND x.webhook_id = $2 AND x.state = 'pending' AND x.next_attempt_at > now() AND x.failures = 0
  ORDER BY x.next_attempt_at LIMIT $3) held
WHERE d.workspace_id = $1 AND d.webhook_id = $2 AND d.event_id = held.event_id`,
);

/**
 * Names of the objects in notices, if they still exist. Indexes: primary keys. $1 workspace, $2
 * tasks, $3 agents.
 */
export const readNames = query<{ id: string; name: string }>(
  'webhooks_read_names',
  `
SELECT t.id, t.title AS name FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = ANY ($2::uuid[])
UNION ALL
SELECT a.id, a.name FROM agents a WHERE a.workspace_id = $1 AND a.id = ANY ($3::uuid[])`,
);

/**
 * Ends overdue deliveries of webhooks that have just failed, because most messages of a dead
 * webhook are never tried. Index: webhook_deliveries_due_idx. $1 workspaces, $2 their webhooks, $3
 * maximum number of rows of each.
 */
export const giveUpOverdue = command<{ webhook_id: string }>(
  'webhooks_give_up_overdue',
  `
UPDATE webhook_deliveries d SET state = 'dead', next_attempt_at = NULL
FROM unnest($1::uuid[], $2::uuid[]) AS x (workspace_id, id)
JOIN webhooks w ON w.workspace_id = x.workspace_id AND w.id = x.id AND ${graceOf('w')} <= now()
CROSS JOIN LATERAL (SELECT o.event_id FROM webhook_deliveries o
  WHERE o.workspace_id = w.workspace_id AND o.webhook_id = w.id AND o.state = 'pending' AND o.give_up_at <= now()
  LIMIT $3) overdue
WHERE d.workspace_id = w.workspace_id AND d.webhook_id = w.id AND d.event_id = overdue.event_id
RETURNING d.webhook_id`,
);

/**
 * Ends the lease. The webhook is due again with its next message. After lockLeased, in a separate
 * statement, because it must see rows that were added while the lock was waited for. Index: primary
 * key. $1 JSON array of Turn.
 */
export const endTurns = command<never>(
  'webhooks_end_turns',
  `
WITH input AS MATERIALIZED (
  SELECT *, now() + make_interval(secs => pause_ms / 1000) AS until
  FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, id uuid, failures integer, pause_ms float8, gone boolean)
)
UPDATE webhooks w SET lease = NULL, leased_until = NULL, failures = i.failures, paused_until = i.until,
  disabled_at = CASE WHEN i.gone THEN coalesce(w.disabled_at, now()) ELSE w.disabled_at END,
  disabled_reason = CASE WHEN i.gone THEN coalesce(w.disabled_reason, 'gone') ELSE w.disabled_reason END,
  version = w.version + CASE WHEN i.gone AND w.disabled_at IS NULL THEN 1 ELSE 0 END,
  due_at = CASE WHEN NOT i.gone THEN ${dueOf('w', 'i.until')} END
FROM input i
WHERE w.workspace_id = i.workspace_id AND w.id = i.id`,
);
