-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- change_webhook
UPDATE webhooks w SET url = $3, events = $4, description = $5, hub_signature = $6,
  recipients = $7::uuid[], notice = $8::jsonb,
  disabled_at = CASE WHEN NOT $9 THEN coalesce(w.disabled_at, now()) END,
  disabled_reason = CASE WHEN NOT $9 THEN coalesce(w.disabled_reason, 'user') END,
  enabled_at = CASE WHEN $9 AND w.disabled_at IS NOT NULL THEN now() ELSE w.enabled_at END,
  failures = CASE WHEN $10 AND w.disabled_at IS NULL THEN w.failures ELSE 0 END,
  paused_until = CASE WHEN $10 AND w.disabled_at IS NULL THEN w.paused_until END,
  -- What the receiver before answers from now on says nothing about this one.
  lease = CASE WHEN $10 AND w.disabled_at IS NULL THEN w.lease END,
  leased_until = CASE WHEN $10 AND w.disabled_at IS NULL THEN w.leased_until END,
  due_at = CASE WHEN NOT $9 THEN NULL
    WHEN $10 AND w.disabled_at IS NULL THEN w.due_at
    ELSE (SELECT d.next_attempt_at FROM webhook_deliveries d
      WHERE d.workspace_id = w.workspace_id AND d.webhook_id = w.id AND d.state = 'pending'
      ORDER BY d.next_attempt_at LIMIT 1) END,
  version = w.version + 1, updated_at = now()
WHERE w.workspace_id = $1 AND w.id = $2
RETURNING w.id

-- delete_webhook
DELETE FROM webhooks WHERE workspace_id = $1 AND id = $2 RETURNING id

-- draw_event_id
SELECT 2 * nextval('journal_id_seq') AS id

-- find_webhook
SELECT w.id, w.kind, w.url, w.recipients, w.notice, w.events, w.description, w.hub_signature, w.disabled_at, w.disabled_reason, w.failures,
  (SELECT s.expires_at FROM webhook_secrets s WHERE s.workspace_id = w.workspace_id AND s.webhook_id = w.id
    AND s.column_name = 'previous_secret' AND s.expires_at > now()) AS previous_secret_expires_at,
  w.created_by, w.version, w.created_at, w.updated_at FROM webhooks w WHERE w.workspace_id = $1 AND w.id = $2

-- hand_over_webhooks
UPDATE webhooks w SET
  disabled_at = CASE WHEN NOT $3 THEN now() END,
  disabled_reason = CASE WHEN NOT $3 THEN 'user' END,
  due_at = CASE WHEN $3 THEN w.due_at END,
  version = w.version + CASE WHEN $3 THEN 0 ELSE 1 END,
  updated_at = CASE WHEN $3 THEN w.updated_at ELSE now() END
WHERE w.workspace_id = $1 AND w.created_by = $2 AND w.disabled_at IS NULL
RETURNING w.id, w.description

-- insert_webhook
INSERT INTO webhooks (workspace_id, id, url, events, description, hub_signature, recipients, notice, kind, created_by)
SELECT $1, $2, $3, $4, $5, $6, $7::uuid[], $8::jsonb, $9, $11
WHERE (SELECT count(*) FROM webhooks WHERE workspace_id = $1) < $10
RETURNING id

-- list_webhooks
SELECT w.id, w.kind, w.url, w.recipients, w.notice, w.events, w.description, w.hub_signature, w.disabled_at, w.disabled_reason, w.failures,
  (SELECT s.expires_at FROM webhook_secrets s WHERE s.workspace_id = w.workspace_id AND s.webhook_id = w.id
    AND s.column_name = 'previous_secret' AND s.expires_at > now()) AS previous_secret_expires_at,
  w.created_by, w.version, w.created_at, w.updated_at FROM webhooks w
WHERE w.workspace_id = $1 AND ($2::uuid IS NULL OR w.id > $2)
ORDER BY w.id LIMIT $3

-- lock_webhook
SELECT w.id, w.kind, w.url, w.recipients, w.notice, w.events, w.description, w.hub_signature, w.disabled_at, w.disabled_reason, w.failures,
  (SELECT s.expires_at FROM webhook_secrets s WHERE s.workspace_id = w.workspace_id AND s.webhook_id = w.id
    AND s.column_name = 'previous_secret' AND s.expires_at > now()) AS previous_secret_expires_at,
  w.created_by, w.version, w.created_at, w.updated_at FROM webhooks w WHERE w.workspace_id = $1 AND w.id = $2 FOR NO KEY UPDATE

-- lock_webhooks
SELECT pg_advisory_xact_lock(hashtextextended('webhooks of ' || $1::text, 0))

-- webhooks_end_turns
WITH input AS MATERIALIZED (
  SELECT *, now() + make_interval(secs => pause_ms / 1000) AS until
  FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, id uuid, failures integer, pause_ms float8, gone boolean)
)
UPDATE webhooks w SET lease = NULL, leased_until = NULL, failures = i.failures, paused_until = i.until,
  disabled_at = CASE WHEN i.gone THEN coalesce(w.disabled_at, now()) ELSE w.disabled_at END,
  disabled_reason = CASE WHEN i.gone THEN coalesce(w.disabled_reason, 'gone') ELSE w.disabled_reason END,
  version = w.version + CASE WHEN i.gone AND w.disabled_at IS NULL THEN 1 ELSE 0 END,
  due_at = CASE WHEN NOT i.gone THEN CASE WHEN w.disabled_at IS NULL THEN (
    SELECT greatest(i.until, d.next_attempt_at) FROM webhook_deliveries d
    WHERE d.workspace_id = w.workspace_id AND d.webhook_id = w.id AND d.state = 'pending'
    ORDER BY d.next_attempt_at LIMIT 1) END END
FROM input i
WHERE w.workspace_id = i.workspace_id AND w.id = i.id

-- webhooks_find_members
SELECT u.id, u.email FROM workspace_members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL
WHERE m.workspace_id = $1 AND (u.id::text = ANY ($2::text[]) OR u.email = ANY ($2::text[]))
  AND ($3 AND u.email_verified OR u.password_hash IS NULL)

-- webhooks_give_up_overdue
UPDATE webhook_deliveries d SET state = 'dead', next_attempt_at = NULL
FROM unnest($1::uuid[], $2::uuid[]) AS x (workspace_id, id)
JOIN webhooks w ON w.workspace_id = x.workspace_id AND w.id = x.id AND w.enabled_at + interval '24 hours' <= now()
CROSS JOIN LATERAL (SELECT o.event_id FROM webhook_deliveries o
  WHERE o.workspace_id = w.workspace_id AND o.webhook_id = w.id AND o.state = 'pending' AND o.give_up_at <= now()
  LIMIT $3) overdue
WHERE d.workspace_id = w.workspace_id AND d.webhook_id = w.id AND d.event_id = overdue.event_id
RETURNING d.webhook_id

-- webhooks_hold_deliveries
UPDATE webhook_deliveries d SET next_attempt_at = h.until, give_up_at = greatest(d.give_up_at, h.until + interval '24 hours')
FROM (SELECT x.workspace_id, x.webhook_id, to_timestamp(x.until_ms / 1000) AS until, unnest(x.event_ids) AS event_id
  FROM jsonb_to_recordset($1::jsonb) AS x (workspace_id uuid, webhook_id uuid, until_ms float8, event_ids bigint[])) h
WHERE d.workspace_id = h.workspace_id AND d.webhook_id = h.webhook_id AND d.event_id = h.event_id AND d.state = 'pending'

-- webhooks_insert_deliveries
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
RETURNING w.id AS webhook_id

-- webhooks_insert_delivery
INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, event, payload, occurred_at)
VALUES ($1, $2, $3, $4, $5, now())
RETURNING event_id, event, payload, occurred_at, state, next_attempt_at, created_at, '[]'::jsonb AS attempts

-- webhooks_lease_due
WITH working AS MATERIALIZED (
  SELECT workspace_id, id FROM webhooks
  WHERE due_at <= now() AND failures = 0 AND (leased_until IS NULL OR leased_until <= now() OR lease = $3)
  ORDER BY due_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
),
failing AS MATERIALIZED (
  SELECT workspace_id, id FROM webhooks
  WHERE due_at <= now() AND failures > 0 AND (leased_until IS NULL OR leased_until <= now() OR lease = $3)
  ORDER BY due_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
),
leased AS (
  UPDATE webhooks w SET lease = $3, leased_until = now() + make_interval(secs => $4)
  FROM (SELECT * FROM working UNION ALL SELECT * FROM failing) due
  WHERE w.workspace_id = due.workspace_id AND w.id = due.id
  RETURNING w.workspace_id, w.id, w.lease, w.kind, w.url, w.hub_signature, w.recipients, w.notice, w.failures,
    w.enabled_at + interval '24 hours' AS grace_until
)
SELECT l.workspace_id, l.id, l.lease, l.kind, l.url, l.hub_signature, l.recipients, l.notice, l.failures,
  (extract(epoch FROM now()) * 1000)::float8 AS now_ms, coalesce((
  SELECT jsonb_agg(jsonb_build_object('event_id', d.event_id::text, 'event', d.event, 'left_to', d.left_to,
    'status', CASE WHEN l.kind <> 'signed' THEN d.payload::jsonb ->> 'newStatus' END,
    'payload', CASE WHEN d.place <= 50 THEN d.payload END, 'attempts', d.attempts, 'failures', d.failures, 'left_ms',
    round(extract(epoch FROM greatest(d.give_up_at, l.grace_until) - now()) * 1000)) ORDER BY d.place)
  FROM (SELECT x.*, row_number() OVER (ORDER BY x.next_attempt_at, x.event_id) AS place FROM webhook_deliveries x
    WHERE x.workspace_id = l.workspace_id AND x.webhook_id = l.id AND x.state = 'pending' AND x.next_attempt_at <= now()
    ORDER BY x.next_attempt_at, x.event_id
    LIMIT CASE WHEN l.kind <> 'signed' THEN 1000 WHEN l.failures > 0 THEN 1 ELSE $5::int END) d), '[]') AS deliveries
FROM leased l

-- webhooks_list_deliveries
WITH page AS MATERIALIZED (
  SELECT d.* FROM webhook_deliveries d
  WHERE d.workspace_id = $1 AND d.webhook_id = $2 AND ($3::text IS NULL OR d.state = $3)
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
  WHERE a.recency <= 20 GROUP BY a.event_id
)
SELECT p.event_id, p.event, p.payload, p.occurred_at, p.state, p.next_attempt_at, p.created_at,
  coalesce(t.attempts, '[]') AS attempts
FROM page p LEFT JOIN tried t ON t.event_id = p.event_id
ORDER BY p.event_id DESC

-- webhooks_list_open_deliveries
WITH page AS MATERIALIZED (
  SELECT d.* FROM webhook_deliveries d
  WHERE d.workspace_id = $1 AND d.webhook_id = $2 AND d.state = $3 AND d.state <> 'delivered'
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
  WHERE a.recency <= 20 GROUP BY a.event_id
)
SELECT p.event_id, p.event, p.payload, p.occurred_at, p.state, p.next_attempt_at, p.created_at,
  coalesce(t.attempts, '[]') AS attempts
FROM page p LEFT JOIN tried t ON t.event_id = p.event_id
ORDER BY p.event_id DESC

-- webhooks_lock_all
SELECT w.id FROM unnest($1::uuid[], $2::uuid[]) AS x (workspace_id, id)
JOIN webhooks w ON w.workspace_id = x.workspace_id AND w.id = x.id
ORDER BY w.workspace_id, w.id FOR NO KEY UPDATE OF w

-- webhooks_lock_leased
SELECT w.id FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS x (workspace_id, id, lease)
JOIN webhooks w ON w.workspace_id = x.workspace_id AND w.id = x.id AND w.lease = x.lease
ORDER BY w.workspace_id, w.id FOR NO KEY UPDATE OF w

-- webhooks_measure_open_replay
SELECT count(*)::int AS count, min(r.event_id)::text AS first, max(r.event_id)::text AS last
FROM (SELECT c.event_id FROM webhook_deliveries c WHERE c.workspace_id = $1 AND c.webhook_id = $2 AND c.payload IS NOT NULL
    AND ($3::bigint[] IS NULL OR c.event_id = ANY ($3)) AND c.state = $4 AND c.state <> 'delivered' AND ($5::timestamptz IS NULL OR c.occurred_at >= $5)
    AND ($6::timestamptz IS NULL OR c.occurred_at < $6) ORDER BY c.event_id LIMIT $7) r

-- webhooks_measure_replay
SELECT count(*)::int AS count, min(r.event_id)::text AS first, max(r.event_id)::text AS last
FROM (SELECT c.event_id FROM webhook_deliveries c WHERE c.workspace_id = $1 AND c.webhook_id = $2 AND c.payload IS NOT NULL
    AND ($3::bigint[] IS NULL OR c.event_id = ANY ($3)) AND ($4::text IS NULL OR c.state = $4) AND ($5::timestamptz IS NULL OR c.occurred_at >= $5)
    AND ($6::timestamptz IS NULL OR c.occurred_at < $6) ORDER BY c.event_id LIMIT $7) r

-- webhooks_prune_deliveries
WITH o AS MATERIALIZED (
  SELECT c.workspace_id, c.webhook_id, c.event_id FROM webhook_deliveries c
  WHERE c.created_at < now() - make_interval(days => $1) AND c.created_at >= coalesce($3::timestamptz, '-infinity')
    AND (c.state <> 'pending' OR NOT EXISTS (
      SELECT FROM webhooks w WHERE w.workspace_id = c.workspace_id AND w.id = c.webhook_id))
  ORDER BY c.created_at LIMIT $2 FOR UPDATE OF c SKIP LOCKED)
DELETE FROM webhook_deliveries d USING o
WHERE d.workspace_id = o.workspace_id AND d.webhook_id = o.webhook_id AND d.event_id = o.event_id
RETURNING d.created_at

-- webhooks_read_names
SELECT t.id, t.title AS name FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = ANY ($2::uuid[])
UNION ALL
SELECT a.id, a.name FROM agents a WHERE a.workspace_id = $1 AND a.id = ANY ($3::uuid[])

-- webhooks_read_subscribed
SELECT DISTINCT workspace_id FROM webhooks WHERE disabled_at IS NULL LIMIT $1

-- webhooks_read_subscriptions
SELECT w.workspace_id, w.id, w.events, (extract(epoch FROM w.created_at) * 1000)::float8 AS created_at FROM webhooks w
WHERE w.workspace_id = ANY ($1::uuid[]) AND w.disabled_at IS NULL

-- webhooks_read_traces
SELECT t.id, t.traceparent FROM unnest($1::uuid[], $2::uuid[]) AS x (workspace_id, id)
JOIN agent_tasks t ON t.workspace_id = x.workspace_id AND t.id = x.id AND t.traceparent IS NOT NULL

-- webhooks_record_attempts
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
RETURNING d.event_id

-- webhooks_release_held
UPDATE webhook_deliveries d SET next_attempt_at = now()
FROM (SELECT x.event_id FROM webhook_deliveries x
  WHERE x.workspace_id = $1 AND x.webhook_id = $2 AND x.state = 'pending' AND x.next_attempt_at > now() AND x.failures = 0
  ORDER BY x.next_attempt_at LIMIT $3) held
WHERE d.workspace_id = $1 AND d.webhook_id = $2 AND d.event_id = held.event_id

-- webhooks_remove_bodies
WITH o AS MATERIALIZED (
  SELECT c.workspace_id, c.webhook_id, c.event_id FROM webhook_deliveries c
  WHERE c.state = 'delivered' AND c.payload IS NOT NULL AND c.created_at < now() - interval '1 day'
  ORDER BY c.created_at LIMIT $1 FOR NO KEY UPDATE OF c SKIP LOCKED)
UPDATE webhook_deliveries d SET payload = NULL FROM o
WHERE d.workspace_id = o.workspace_id AND d.webhook_id = o.webhook_id AND d.event_id = o.event_id
RETURNING d.event_id

-- webhooks_renew_attempt_partitions
SELECT renew_attempt_partitions($1, make_interval(days => $2)) AS dropped

-- webhooks_replay_deliveries
-- Materialized: read again and again by a join, it would go on behind the rows that it has just changed.
WITH r AS MATERIALIZED (SELECT c.event_id FROM webhook_deliveries c
  WHERE c.workspace_id = $1 AND c.webhook_id = $2 AND c.payload IS NOT NULL
    AND ($3::bigint[] IS NULL OR c.event_id = ANY ($3)) AND ($4::text IS NULL OR c.state = $4) AND ($5::timestamptz IS NULL OR c.occurred_at >= $5)
    AND ($6::timestamptz IS NULL OR c.occurred_at < $6) AND c.event_id BETWEEN $7::bigint AND $8::bigint
  ORDER BY c.event_id LIMIT $9 FOR NO KEY UPDATE)
UPDATE webhook_deliveries d
SET state = 'pending', failures = 0, next_attempt_at = now(), give_up_at = now() + interval '24 hours', left_to = '{}'
FROM r
WHERE d.workspace_id = $1 AND d.webhook_id = $2 AND d.event_id = r.event_id
RETURNING d.event_id

-- webhooks_replay_open_deliveries
-- Materialized: read again and again by a join, it would go on behind the rows that it has just changed.
WITH r AS MATERIALIZED (SELECT c.event_id FROM webhook_deliveries c
  WHERE c.workspace_id = $1 AND c.webhook_id = $2 AND c.payload IS NOT NULL
    AND ($3::bigint[] IS NULL OR c.event_id = ANY ($3)) AND c.state = $4 AND c.state <> 'delivered' AND ($5::timestamptz IS NULL OR c.occurred_at >= $5)
    AND ($6::timestamptz IS NULL OR c.occurred_at < $6) AND c.event_id BETWEEN $7::bigint AND $8::bigint
  ORDER BY c.event_id LIMIT $9 FOR NO KEY UPDATE)
UPDATE webhook_deliveries d
SET state = 'pending', failures = 0, next_attempt_at = now(), give_up_at = now() + interval '24 hours', left_to = '{}'
FROM r
WHERE d.workspace_id = $1 AND d.webhook_id = $2 AND d.event_id = r.event_id
RETURNING d.event_id

-- webhooks_set_due
UPDATE webhooks w SET paused_until = NULL, due_at = CASE WHEN w.disabled_at IS NULL THEN (
    SELECT greatest(NULL::timestamptz, d.next_attempt_at) FROM webhook_deliveries d
    WHERE d.workspace_id = w.workspace_id AND d.webhook_id = w.id AND d.state = 'pending'
    ORDER BY d.next_attempt_at LIMIT 1) END
WHERE w.workspace_id = $1 AND w.id = $2
