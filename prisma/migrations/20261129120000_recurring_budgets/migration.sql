-- Budgets whose period repeats, and the notices of ends.

ALTER TABLE usage_budgets
  -- NULL: the budget ends with its period. Otherwise the periods begin at `first_start` by the clock
  -- of the time zone, and each day, week or month later.
  ADD COLUMN every text,
  ADD COLUMN time_zone text,
  ADD COLUMN first_start timestamp,
  -- The tokens of each later period. A reallocation changes those of the present one only.
  ADD COLUMN renewed_allocation bigint,
  -- A recurring budget limits its scope also in the moment between the end of a period and its renewal.
  ADD COLUMN covers_until timestamptz NOT NULL
    GENERATED ALWAYS AS (CASE WHEN every IS NULL THEN period_end ELSE 'infinity'::timestamptz END) STORED,
  -- The time of the next notice or renewal. The coordinator computes it for a row with the default.
  ADD COLUMN due_at timestamptz DEFAULT 'epoch',
  ADD CONSTRAINT usage_budgets_recur_wholly CHECK (
    num_nulls(every, time_zone, first_start, renewed_allocation) IN (0, 4)
    AND (every IS NULL OR every IN ('day', 'week', 'month'))
    AND (renewed_allocation IS NULL OR renewed_allocation >= 0));

-- Nobody wants to hear of ends that are long past.
UPDATE usage_budgets SET due_at = NULL WHERE period_end <= now();
CREATE INDEX usage_budgets_due_idx ON usage_budgets (due_at) WHERE due_at IS NOT NULL;

ALTER TABLE usage_budgets
  DROP CONSTRAINT usage_budgets_period_is_free,
  ADD CONSTRAINT usage_budgets_period_is_free EXCLUDE USING gist
    (workspace_id WITH =, scope_id WITH =, tstzrange(period_start, covers_until) WITH &&);

DROP INDEX usage_budgets_scope_idx, usage_budgets_wide_idx, usage_budgets_task_idx, usage_budgets_reached_idx;
CREATE INDEX usage_budgets_scope_idx ON usage_budgets (workspace_id, scope_id, covers_until);
CREATE INDEX usage_budgets_wide_idx ON usage_budgets (workspace_id, covers_until) WHERE task_id IS NULL;
CREATE INDEX usage_budgets_task_idx ON usage_budgets (workspace_id, covers_until) WHERE task_id IS NOT NULL;
CREATE INDEX usage_budgets_reached_idx ON usage_budgets (workspace_id, covers_until) WHERE reached_percent > 0;

-- The period of a recurring budget that contains a time. Each start is counted from the first one, so that a
-- month that begins on the 31st begins on the last day of a shorter month, and on the 31st again after it.
-- A local time that a change of the clock skips is an hour later; one that comes twice is the second.
CREATE FUNCTION budget_period(first_start timestamp, every text, time_zone text, moment timestamptz,
  OUT period_start timestamptz, OUT period_end timestamptz) LANGUAGE sql STABLE AS $$
  SELECT max(s.start) FILTER (WHERE s.start <= moment), min(s.start) FILTER (WHERE s.start > moment)
  FROM (
    SELECT CASE every
      WHEN 'day' THEN local::date - first_start::date
      WHEN 'week' THEN (local::date - first_start::date) / 7
      WHEN 'month' THEN ((extract(year FROM local) - extract(year FROM first_start)) * 12
        + extract(month FROM local) - extract(month FROM first_start))::int
    END AS about
    FROM (SELECT moment AT TIME ZONE time_zone AS local) l) e
  CROSS JOIN LATERAL generate_series(e.about - 2, e.about + 2) AS n
  CROSS JOIN LATERAL (SELECT (first_start + CASE every WHEN 'day' THEN make_interval(days => n)
    WHEN 'week' THEN make_interval(weeks => n) ELSE make_interval(months => n) END)
    AT TIME ZONE time_zone AS start) s
$$;
