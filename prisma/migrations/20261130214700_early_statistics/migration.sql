-- Statistics for statements that are planned before their tables have any, and new ones as soon as a table has grown.

-- Without statistics a workspace seems to have a two-hundredth of each table. So in a new table an index of all rows of
-- the workspace seems as cheap as a key, and a connection keeps that plan. Completions read every run of a workspace:
-- 13 ms at 10,000 runs, 0.7 ms by the key. A new installation has one workspace with all rows, and its first ANALYZE
-- replaces this guess.
DO $$
DECLARE
  empty text;
BEGIN
  FOR empty IN
    SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'workspace_id'
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT c.relispartition AND c.reltuples < 0
  LOOP
    PERFORM pg_restore_attribute_stats('schemaname', 'public', 'relname', empty, 'attname', 'workspace_id',
      'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 1::real);
  END LOOP;
END $$;

-- Analyses the largest table that has ten times the pages of its last ANALYZE, and returns its name. NULL: there is
-- none. Autovacuum comes up to a minute later, or after a long transaction. An ANALYZE makes all connections plan
-- again. Partitions of history only grow at their end, and autovacuum suffices for them.
CREATE FUNCTION analyze_grown_table() RETURNS text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public SET lock_timeout = '2s' AS $$
DECLARE
  grown regclass;
BEGIN
  SELECT c.oid INTO grown FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT c.relispartition
    AND c.relowner = current_user::regrole
    AND pg_relation_size(c.oid) >= 10 * greatest(c.relpages, 1) * current_setting('block_size')::bigint
  ORDER BY pg_relation_size(c.oid) DESC LIMIT 1;
  IF grown IS NOT NULL THEN
    EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown);
  END IF;
  RETURN grown;
END $$;

REVOKE ALL ON FUNCTION analyze_grown_table() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION analyze_grown_table() TO drover_service;
