-- A partition that is in use is left for the next time, and the others are dropped. Where the whole call failed by it,
-- those that had been dropped were there again, while the sequence, which knows no way back, said that they were gone.
-- All who write wait behind each attempt, so there are three that fail at most.
CREATE OR REPLACE FUNCTION drop_journal_partitions(keep interval) RETURNS text[]
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public SET lock_timeout = '2s' AS $$
DECLARE
  part    record;
  unread  boolean;
  newest  bigint;
  gone    bigint := 0;
  failed  integer := 0;
  dropped text[] := '{}';
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('journal_partitions'));
  FOR part IN
    SELECT c.oid::regclass::text AS name, p.relname AS parent,
      (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'))[1]::timestamptz AS until
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
    WHERE p.oid IN ('public.journal'::regclass, 'public.task_log_lines'::regclass)
  LOOP
    CONTINUE WHEN part.until IS NULL OR part.until >= now() - keep;
    IF part.parent = 'journal' THEN
      EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE id > (SELECT min(position) FROM public.event_consumers))',
        part.name) INTO unread;
      CONTINUE WHEN unread;
      EXECUTE format('SELECT max(id) FROM %s', part.name) INTO newest;
    END IF;
    BEGIN
      EXECUTE format('DROP TABLE %s', part.name);
    EXCEPTION WHEN lock_not_available THEN
      failed := failed + 1;
      EXIT WHEN failed = 3;
      CONTINUE;
    END;
    dropped := dropped || part.name;
    IF part.parent = 'journal' THEN gone := greatest(gone, newest); END IF;
  END LOOP;
  IF gone > (SELECT last_value FROM public.journal_dropped_seq) THEN
    PERFORM setval('public.journal_dropped_seq', gone);
  END IF;
  RETURN dropped;
END $$;

-- Only the channels of Valkey tell the numbers of messages; no other consumer counts them any more.
DELETE FROM event_numbers WHERE consumer <> 'channels';
