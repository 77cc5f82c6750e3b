-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- journal_add_consumer
INSERT INTO event_consumers (name, position)
SELECT $1, CASE WHEN $2 THEN 0 ELSE coalesce(pg_sequence_last_value('journal_id_seq'), 0) END
ON CONFLICT DO NOTHING

-- journal_advance
WITH moved AS (
  UPDATE event_consumers SET position = $4, leased_until = now() + make_interval(secs => $7)
  WHERE name = $1 AND owner = $2 AND position = $3 RETURNING name
),
counted AS (
  INSERT INTO event_numbers (consumer, workspace_id, last_number)
  SELECT m.name, n.workspace_id, n.last FROM moved m, unnest($5::uuid[], $6::bigint[]) AS n (workspace_id, last)
  ON CONFLICT (consumer, workspace_id) DO UPDATE SET last_number = excluded.last_number
)
SELECT name, set_config('synchronous_commit', 'off', true) FROM moved

-- journal_drop_partitions
SELECT drop_journal_partitions(make_interval(days => $1)) AS dropped

-- journal_give_lease_back
UPDATE event_consumers SET owner = NULL, leased_until = NULL WHERE name = $1 AND owner = $2

-- journal_make_partitions
SELECT make_journal_partitions($1) AS made

-- journal_read_batch
SELECT h.settled, j.id, j.workspace_id, j.event, j.log_event, j.task_id, j.version, j.previous_status, j.new_status,
  j.run_id, j.run_version, j.previous_state, j.new_state, j.end_reason, j.generation, j.agent_id, j.actor_kind, j.reason,
  j.message, j.details, (extract(epoch FROM j.retry_at) * 1000)::float8 AS retry_at,
  round(date_part('epoch', date_trunc('milliseconds', j.created_at)) * 1000) AS created_at
FROM (SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $3::xid8 AS settled) h
LEFT JOIN LATERAL (
  SELECT * FROM journal WHERE h.settled AND id > $1 AND id <= $2
    AND ($5::uuid[] IS NULL OR workspace_id = ANY ($5))
  ORDER BY id LIMIT $4) j ON true
ORDER BY j.id

-- journal_read_ends
WITH s AS MATERIALIZED (SELECT coalesce(pg_sequence_last_value('journal_id_seq'), 0) AS last)
SELECT s.last, d.last_value AS dropped,
  CASE WHEN s.last > $1::bigint THEN pg_current_xact_id()::text END AS xid
FROM s, journal_dropped_seq d

-- journal_read_furthest
SELECT max(position) AS position FROM event_consumers

-- journal_read_numbers
SELECT w.id AS workspace_id, coalesce(n.last_number, 0) AS last_number
FROM event_consumers c CROSS JOIN unnest($3::uuid[]) AS w (id)
LEFT JOIN event_numbers n ON n.consumer = c.name AND n.workspace_id = w.id
WHERE c.name = $1 AND c.position = $2

-- journal_read_outlook
WITH s AS MATERIALIZED (SELECT coalesce(pg_sequence_last_value('journal_id_seq'), 0) AS last)
SELECT s.last, c.position,
  coalesce(c.owner <> $2 AND c.leased_until > now(), false) AS elsewhere,
  CASE WHEN s.last > c.position
    AND c.owner = $2 AND c.leased_until > now() + make_interval(secs => $3)
  THEN pg_current_xact_id()::text END AS xid
FROM event_consumers c, s
WHERE c.name = $1

-- journal_read_page
SELECT j.id, j.workspace_id, j.event, j.log_event, j.task_id, j.version, j.previous_status, j.new_status,
  j.run_id, j.run_version, j.previous_state, j.new_state, j.end_reason, j.generation, j.agent_id, j.actor_kind, j.reason,
  j.message, j.details, (extract(epoch FROM j.retry_at) * 1000)::float8 AS retry_at,
  round(date_part('epoch', date_trunc('milliseconds', j.created_at)) * 1000) AS created_at FROM journal j WHERE j.workspace_id = $1 AND j.id > $2 AND j.id <= $3 ORDER BY j.id LIMIT $4

-- journal_remove_consumer
DELETE FROM event_consumers WHERE name = $1

-- journal_take_lease
UPDATE event_consumers SET owner = $2, leased_until = now() + make_interval(secs => $3)
WHERE name = $1 AND (owner IS NULL OR owner = $2 OR leased_until <= now())
RETURNING position, pg_current_xact_id()::text AS xid
