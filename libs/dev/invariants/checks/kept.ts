/**
 * A CTE `kept` with one row: `since` names the start of the stored journal. Retention dropped
 * earlier partitions, and their rows are not missed.
 */
export const KEPT = `kept AS MATERIALIZED (
  SELECT CASE WHEN bool_or(bounds LIKE 'FOR VALUES FROM (MINVALUE)%') THEN '-infinity'
    ELSE coalesce(min((regexp_match(bounds, 'FROM \\(''([^'']+)''\\)'))[1]::timestamptz), '-infinity') END AS since
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, pg_get_expr(c.relpartbound, c.oid) AS bounds
  WHERE i.inhparent = 'journal'::regclass
)`;
