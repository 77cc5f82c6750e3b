-- Attempts of webhooks have a partition for each day. An old day is dropped, and no row is deleted.

-- The parts of renew_heartbeat_partitions that any table with a partition a day needs. Its owner's other functions
-- call it. A partition in use is left for the next time. All who write wait behind each attempt to drop one, so at
-- most three fail.
CREATE FUNCTION renew_daily_partitions(parent regclass, time_column text, days_ahead integer, keep interval)
  RETURNS text[] LANGUAGE plpgsql SET search_path = pg_catalog, public SET lock_timeout = '2s' AS $$
DECLARE
  part    record;
  failed  integer := 0;
  dropped text[] := '{}';
BEGIN
  PERFORM make_partitions(ARRAY[parent::text], 'day', days_ahead);
  FOR part IN
    SELECT c.oid::regclass::text AS name,
      (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'))[1]::timestamptz AS until
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = parent
  LOOP
    CONTINUE WHEN part.until IS NULL OR part.until >= now() - keep;
    BEGIN
      EXECUTE format('DROP TABLE %s', part.name);
      dropped := dropped || part.name;
    EXCEPTION WHEN lock_not_available THEN
      failed := failed + 1;
      EXIT WHEN failed = 3;
    END;
  END LOOP;
  EXECUTE format('DELETE FROM %I WHERE %I < now() - $1', parent::text || '_default', time_column) USING keep;
  RETURN dropped;
END $$;

CREATE OR REPLACE FUNCTION renew_heartbeat_partitions(days_ahead integer, keep interval) RETURNS text[]
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT renew_daily_partitions('agent_heartbeat_history', 'seen_at', days_ahead, keep);
$$;

CREATE FUNCTION renew_attempt_partitions(days_ahead integer, keep interval) RETURNS text[]
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT renew_daily_partitions('webhook_attempts', 'started_at', days_ahead, keep);
$$;

REVOKE ALL ON FUNCTION renew_daily_partitions(regclass, text, integer, interval),
  renew_attempt_partitions(integer, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION renew_attempt_partitions(integer, interval) TO drover_service;

-- The present table becomes the partition of all attempts before tomorrow. Senders wait for its new key and the check
-- of its rows: up to 12 s for 1,000,000 attempts on a busy machine.
ALTER TABLE webhook_attempts RENAME TO webhook_attempts_before;
-- A foreign key would lock webhook_deliveries when a partition is dropped. Attempts of removed deliveries are never
-- read, and go with their day.
ALTER TABLE webhook_attempts_before DROP CONSTRAINT webhook_attempts_delivery_fkey,
  DROP CONSTRAINT webhook_attempts_pkey, NO FORCE ROW LEVEL SECURITY;
-- `started_at` is by the clock of the sender, which can be ahead.
UPDATE webhook_attempts_before SET started_at = now()
WHERE started_at >= (date_trunc('day', now() AT TIME ZONE 'UTC') + interval '1 day') AT TIME ZONE 'UTC';
ALTER TABLE webhook_attempts_before
  ADD CONSTRAINT webhook_attempts_before_pkey PRIMARY KEY (workspace_id, webhook_id, event_id, number, started_at);
DROP POLICY tenant ON webhook_attempts_before;
DROP POLICY service ON webhook_attempts_before;
REVOKE ALL ON webhook_attempts_before FROM drover_app, drover_service;

CREATE TABLE webhook_attempts (
  workspace_id uuid NOT NULL,
  webhook_id   uuid NOT NULL,
  event_id     bigint NOT NULL,
  number       integer NOT NULL CONSTRAINT webhook_attempts_number_check CHECK (number >= 1),
  started_at   timestamptz NOT NULL,
  duration_ms  integer NOT NULL,
  url          text NOT NULL,
  -- Of the answer. NULL: there was none, for the reason in `error`.
  status       integer,
  error        text,
  answer       text,
  PRIMARY KEY (workspace_id, webhook_id, event_id, number, started_at),
  CONSTRAINT webhook_attempts_has_result CHECK ((status IS NULL) = (error IS NOT NULL))
) PARTITION BY RANGE (started_at);

-- For attempts of a day without a partition, so that no row is refused.
CREATE TABLE webhook_attempts_default PARTITION OF webhook_attempts DEFAULT;
ALTER TABLE webhook_attempts_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook_attempts ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_attempts FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON webhook_attempts FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON webhook_attempts FOR ALL TO drover_service USING (true) WITH CHECK (true);
GRANT SELECT ON webhook_attempts TO drover_app;
GRANT SELECT, INSERT, DELETE ON webhook_attempts TO drover_service;

DO $$ BEGIN
  EXECUTE format('ALTER TABLE webhook_attempts ATTACH PARTITION webhook_attempts_before
    FOR VALUES FROM (MINVALUE) TO (%L)',
    (date_trunc('day', now() AT TIME ZONE 'UTC') + interval '1 day') AT TIME ZONE 'UTC');
  PERFORM make_partitions(ARRAY['webhook_attempts'], 'day', 3);
END $$;
