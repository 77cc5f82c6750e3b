-- What agents said of themselves, sampled when their heartbeats are written: the first of each interval. What they say
-- now is in agent_heartbeats, and their metadata there only: they may be 16 KiB each.
CREATE TABLE agent_heartbeat_history (
  workspace_id     uuid NOT NULL,
  agent_id         uuid NOT NULL,
  -- In whole milliseconds, as the API shows them: its cursors are made from them.
  seen_at          timestamptz NOT NULL,
  status           text NOT NULL CHECK (status IN ('healthy', 'degraded')),
  current_task_id  uuid,
  progress_percent percentage,
  current_step     text,
  memory_mb        natural_number,
  cpu_percent      natural_number,
  PRIMARY KEY (workspace_id, agent_id, seen_at)
) PARTITION BY RANGE (seen_at);
-- The latest of the agent's heartbeats that is in its history.
ALTER TABLE agent_heartbeats ADD COLUMN kept_at timestamptz;

-- For heartbeats of a day that has no partition; no row is ever refused.
CREATE TABLE agent_heartbeat_history_default PARTITION OF agent_heartbeat_history DEFAULT;
ALTER TABLE agent_heartbeat_history_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE agent_heartbeat_history ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_heartbeat_history FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON agent_heartbeat_history FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON agent_heartbeat_history FOR ALL TO drover_service USING (true) WITH CHECK (true);
GRANT SELECT ON agent_heartbeat_history TO drover_app;
GRANT SELECT, INSERT ON agent_heartbeat_history TO drover_service;

-- What make_journal_partitions did for its two tables, for any and for days too. Its owner's other functions call it.
CREATE FUNCTION make_partitions(parents text[], unit text, ahead integer) RETURNS integer
  LANGUAGE plpgsql SET search_path = pg_catalog, public SET lock_timeout = '2s' AS $$
DECLARE
  parent text;
  -- In UTC: a day of another zone may have 23 hours.
  since  timestamp;
  until  timestamp;
  name   text;
  made   integer := 0;
BEGIN
  -- One at a time; the table is locked for a moment only, and who waits for it longer tries again later.
  PERFORM pg_advisory_xact_lock(hashtext('journal_partitions'));
  FOR step IN 0..ahead LOOP
    since := date_trunc(unit, now() AT TIME ZONE 'UTC') + step * ('1 ' || unit)::interval;
    until := since + ('1 ' || unit)::interval;
    FOREACH parent IN ARRAY parents LOOP
      name := parent || to_char(since, CASE unit WHEN 'week' THEN '"_"IYYY"w"IW' ELSE '"_"YYYYMMDD' END);
      CONTINUE WHEN to_regclass('public.' || name) IS NOT NULL;
      BEGIN
        EXECUTE format('CREATE TABLE public.%I PARTITION OF public.%I FOR VALUES FROM (%L) TO (%L)',
          name, parent, since AT TIME ZONE 'UTC', until AT TIME ZONE 'UTC');
        EXECUTE format('ALTER TABLE public.%I ENABLE ROW LEVEL SECURITY', name);
        made := made + 1;
      EXCEPTION
        -- Another partition has that time, or the default one already has rows of it.
        WHEN invalid_object_definition OR check_violation THEN NULL;
      END;
    END LOOP;
  END LOOP;
  RETURN made;
END $$;

CREATE OR REPLACE FUNCTION make_journal_partitions(weeks_ahead integer) RETURNS integer
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  SELECT make_partitions(ARRAY['journal', 'task_log_lines'], 'week', weeks_ahead);
$$;

-- Makes the partitions of the days to come, and drops those whose rows are all older than `keep`.
CREATE FUNCTION renew_heartbeat_partitions(days_ahead integer, keep interval) RETURNS text[]
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public SET lock_timeout = '2s' AS $$
DECLARE
  part    record;
  dropped text[] := '{}';
BEGIN
  PERFORM make_partitions(ARRAY['agent_heartbeat_history'], 'day', days_ahead);
  FOR part IN
    SELECT c.oid::regclass::text AS name,
      (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'))[1]::timestamptz AS until
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'public.agent_heartbeat_history'::regclass
  LOOP
    CONTINUE WHEN part.until IS NULL OR part.until >= now() - keep;
    BEGIN
      EXECUTE format('DROP TABLE %s', part.name);
      dropped := dropped || part.name;
    EXCEPTION
      -- Somebody reads it: another time. The days to come are made whether or not this one goes.
      WHEN lock_not_available THEN NULL;
    END;
  END LOOP;
  DELETE FROM agent_heartbeat_history_default WHERE seen_at < now() - keep;
  RETURN dropped;
END $$;

REVOKE ALL ON FUNCTION make_partitions(text[], text, integer), renew_heartbeat_partitions(integer, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION renew_heartbeat_partitions(integer, interval) TO drover_service;
SELECT renew_heartbeat_partitions(3, '7 days');
