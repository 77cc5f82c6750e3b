/**
 * A CTE `kept` of one row: `since` when the journal is kept. Partitions from before were dropped by retention, and what
 * stood in them is not missed.
 */
export const KEPT = `kept AS MATERIALIZED (
  SELECT CASE WHEN bool_or(bounds LIKE 'FOR VALUES FROM (MINVALUE)%') THEN '-infinity'
    ELSE coalesce(min((regexp_match(bounds, 'FROM \\(''([^'']+)''\\)'))[1]::timestamptz), '-infinity') END AS since
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, pg_get_expr(c.relpartbound, c.oid) AS bounds
  WHERE i.inhparent = 'journal'::regclass
)`;
