-- The history of usage: sums of the ledger by day and month, and how far of each budget has been told.

-- The ledger's own order, which the follower reads it by. The transaction id stands before the number, as in the
-- journal: a column's default is evaluated in the order of the columns, so whoever has drawn a number below one that
-- somebody read has had a transaction id by then.
CREATE SEQUENCE agent_usage_logs_seq AS bigint;
ALTER TABLE agent_usage_logs
  ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  ADD COLUMN seq bigint NOT NULL DEFAULT nextval('agent_usage_logs_seq');
CREATE UNIQUE INDEX agent_usage_logs_seq_key ON agent_usage_logs (seq);
-- The reports of a workspace that are not in the sums yet.
CREATE INDEX agent_usage_logs_tail_idx ON agent_usage_logs (workspace_id, seq);

-- Sums of reports. A report counts in five dimensions, in the scope of its workspace and in that of its project.
CREATE TABLE usage_rollups (
  workspace_id          uuid NOT NULL,
  -- A project, or the workspace for all of it.
  scope_id              uuid NOT NULL,
  dimension             text NOT NULL CHECK (dimension IN ('total', 'agent', 'task', 'project', 'model')),
  -- An id, or the name of a model; '-': no project, and the one key of 'total'.
  key                   text COLLATE "C" NOT NULL CHECK (length(key) BETWEEN 1 AND 100),
  grain                 text NOT NULL CHECK (grain IN ('day', 'month')),
  -- In UTC; the first one of a month. Tasks have days only: a month has hardly fewer of them.
  day                   date NOT NULL,
  -- Beyond bigint: one sum that overflowed would stop all of them.
  input_tokens          numeric NOT NULL,
  output_tokens         numeric NOT NULL,
  cache_read_tokens     numeric NOT NULL,
  cache_write_tokens    numeric NOT NULL,
  -- Of the reports that have a price.
  cost_usd              numeric NOT NULL,
  reports               bigint NOT NULL,
  reports_without_price bigint NOT NULL,
  PRIMARY KEY (workspace_id, scope_id, dimension, key, grain, day),
  CONSTRAINT usage_rollups_month_begins CHECK (grain = 'day' OR extract(day FROM day) = 1)
-- Room for the sums of today, which grow all day.
) WITH (fillfactor = 80);

-- One row: all reports up to this number of the ledger are in the sums.
CREATE TABLE usage_rollup_progress (
  id       integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  position bigint NOT NULL
);
INSERT INTO usage_rollup_progress (position) VALUES (0);

-- From this day on all reports of a workspace are kept. No row: since ever.
CREATE TABLE usage_logs_kept (
  workspace_id uuid PRIMARY KEY,
  since        date NOT NULL
);

ALTER TABLE usage_budgets
  -- The highest step of 50, 75, 90 and 100 % that has been reached, and the highest that has been told.
  ADD COLUMN reached_percent smallint NOT NULL GENERATED ALWAYS AS (CASE
    WHEN consumed >= allocated AND consumed > 0 THEN 100
    WHEN consumed * 10.0 >= allocated * 9.0 AND consumed > 0 THEN 90
    WHEN consumed * 4.0 >= allocated * 3.0 AND consumed > 0 THEN 75
    WHEN consumed * 2.0 >= allocated AND consumed > 0 THEN 50 ELSE 0 END) STORED,
  ADD COLUMN alerted_percent smallint NOT NULL DEFAULT 0
    CHECK (alerted_percent IN (0, 50, 75, 90, 100));
-- Empty but for the moment between the two. Both change at a step only, so usage leaves the indexes alone.
CREATE INDEX usage_budgets_untold_idx ON usage_budgets (workspace_id, id) WHERE reached_percent <> alerted_percent;
CREATE INDEX usage_budgets_reached_idx ON usage_budgets (workspace_id, period_end) WHERE reached_percent > 0;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['usage_rollups', 'usage_logs_kept'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT ON usage_rollups, usage_logs_kept, usage_rollup_progress TO drover_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON usage_rollups TO drover_service;
GRANT SELECT, INSERT, UPDATE ON usage_logs_kept TO drover_service;
GRANT SELECT, UPDATE ON usage_rollup_progress TO drover_service;
GRANT DELETE ON agent_usage_logs TO drover_service;
GRANT USAGE, SELECT ON SEQUENCE agent_usage_logs_seq TO drover_app, drover_service;
