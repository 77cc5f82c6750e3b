-- What a stream of events cannot resume behind: the last id of the journal in a partition that was dropped. Ids have gaps,
-- so the oldest row that is kept does not tell whether there was one before it. A sequence is a row that anybody may
-- read, which nothing rolls back.
CREATE SEQUENCE journal_dropped_seq AS bigint MINVALUE 0 START 0;
SELECT setval('journal_dropped_seq', coalesce(min(id) - 1, 0)) FROM journal;
GRANT SELECT ON SEQUENCE journal_dropped_seq TO drover_app, drover_service;

-- As before, and notes the last id of what it drops.
CREATE OR REPLACE FUNCTION drop_journal_partitions(keep interval) RETURNS text[]
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public SET lock_timeout = '2s' AS $$
DECLARE
  part    record;
  unread  boolean;
  newest  bigint;
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
    EXECUTE format('DROP TABLE %s', part.name);
    dropped := dropped || part.name;
    IF part.parent = 'journal' AND newest > (SELECT last_value FROM public.journal_dropped_seq) THEN
      PERFORM setval('public.journal_dropped_seq', newest);
    END IF;
  END LOOP;
  RETURN dropped;
END $$;
