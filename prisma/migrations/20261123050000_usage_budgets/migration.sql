-- Budgets of tokens, what runs hold of them, and the ledger of what was used.

-- For the exclusion of overlapping periods: uuids in a GiST index. A trusted extension: the database's owner may make it.
CREATE EXTENSION IF NOT EXISTS btree_gist;

CREATE DOMAIN token_count AS bigint CHECK (VALUE >= 0);
-- In USD. Prices are per million tokens with six decimals at most, so that a cost is exact with twelve.
-- NaN is more than any number.
CREATE DOMAIN usd_cost AS numeric(24, 12) CHECK (VALUE >= 0 AND VALUE < 'NaN');

-- What may be used in a period: by a workspace, or by one project, milestone or task of it.
CREATE TABLE usage_budgets (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id           uuid NOT NULL,
  project_id   uuid,
  milestone_id uuid,
  task_id      uuid,
  scope        text NOT NULL GENERATED ALWAYS AS (CASE
    WHEN task_id IS NOT NULL THEN 'task' WHEN milestone_id IS NOT NULL THEN 'milestone'
    WHEN project_id IS NOT NULL THEN 'project' ELSE 'global' END) STORED,
  scope_id     uuid NOT NULL GENERATED ALWAYS AS (coalesce(task_id, milestone_id, project_id, workspace_id)) STORED,
  allocated    token_count NOT NULL,
  -- What live runs hold: the sum of task_runs.held_tokens of those that have this budget in budget_ids.
  reserved     token_count NOT NULL DEFAULT 0,
  -- What was used: the sum of agent_usage_logs.total_tokens of the scope in the period.
  consumed     token_count NOT NULL DEFAULT 0,
  remaining    bigint NOT NULL GENERATED ALWAYS AS (allocated - consumed) STORED,
  available    bigint NOT NULL GENERATED ALWAYS AS (allocated - consumed - reserved) STORED,
  -- By this, and not by the sums, budgets are indexed: a sum changes with each report, and the indexes need not.
  is_used_up   boolean NOT NULL GENERATED ALWAYS AS (consumed >= allocated) STORED,
  period_start timestamptz NOT NULL,
  period_end   timestamptz NOT NULL,
  -- At 100 %: running tasks are paused, may finish, or are cancelled.
  policy       text NOT NULL DEFAULT 'pause' CHECK (policy IN ('pause', 'finish', 'abort')),
  version      integer NOT NULL DEFAULT 1,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT usage_budgets_project_fkey FOREIGN KEY (workspace_id, project_id)
    REFERENCES projects (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT usage_budgets_milestone_fkey FOREIGN KEY (workspace_id, milestone_id)
    REFERENCES milestones (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT usage_budgets_task_fkey FOREIGN KEY (workspace_id, task_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT usage_budgets_has_one_scope CHECK (num_nonnulls(project_id, milestone_id, task_id) <= 1),
  CONSTRAINT usage_budgets_period_is_time CHECK (period_start < period_end),
  -- One budget holds for a scope at any time.
  CONSTRAINT usage_budgets_period_is_free EXCLUDE USING gist
    (workspace_id WITH =, scope_id WITH =, tstzrange(period_start, period_end) WITH &&)
);
-- The budgets that cover a task now: a handful of rows of each scope.
CREATE INDEX usage_budgets_scope_idx ON usage_budgets (workspace_id, scope_id, period_end);

-- What the head of a queue is held against.
CREATE INDEX usage_budgets_wide_idx ON usage_budgets (workspace_id, period_end) WHERE task_id IS NULL;
CREATE INDEX usage_budgets_task_idx ON usage_budgets (workspace_id, period_end) WHERE task_id IS NOT NULL;

-- What running tasks are paused or cancelled for, and those that are paused for it.
CREATE INDEX usage_budgets_used_up_idx ON usage_budgets (workspace_id) WHERE is_used_up AND policy <> 'finish';
CREATE INDEX agent_tasks_budget_paused_idx ON agent_tasks (workspace_id, id)
  WHERE status = 'PAUSED' AND paused_by LIKE 'coordinator:budget:%';

-- One row for each report of usage; never changed.
CREATE TABLE agent_usage_logs (
  workspace_id       uuid NOT NULL,
  run_id             uuid NOT NULL,
  -- As the reporter named it: the same again is the same report.
  id                 varchar(100) NOT NULL CHECK (length(id) >= 1),
  task_id            uuid NOT NULL,
  agent_id           uuid NOT NULL,
  -- The task's at that time.
  project_id         uuid,
  milestone_id       uuid,
  model              varchar(100) NOT NULL CHECK (length(model) >= 1),
  operation          varchar(100),
  input_tokens       token_count NOT NULL,
  output_tokens      token_count NOT NULL,
  cache_read_tokens  token_count NOT NULL,
  cache_write_tokens token_count NOT NULL,
  total_tokens       bigint NOT NULL
    GENERATED ALWAYS AS (input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) STORED,
  -- By the server's prices; NULL: it has none for the model.
  cost_usd           usd_cost,
  -- As the reporter has it; counted nowhere.
  reported_cost_usd  usd_cost,
  logged_at          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, run_id, id)
);
CREATE INDEX agent_usage_logs_time_idx ON agent_usage_logs (workspace_id, logged_at);
CREATE INDEX agent_usage_logs_task_idx ON agent_usage_logs (workspace_id, task_id, logged_at);

-- bigint, and checks that are not tried on the rows that there are: neither is a table written anew, nor read.
ALTER TABLE agent_tasks
  ADD COLUMN estimated_complexity integer,
  -- What a run of it is expected to use, and holds of each budget that covers it. That of a task of which nothing
  -- is known: complexity 5 by the formula of estimates.
  ADD COLUMN estimated_tokens bigint NOT NULL DEFAULT 8970,
  ADD COLUMN estimate_source text NOT NULL DEFAULT 'default',
  ADD CONSTRAINT agent_tasks_complexity_is_known CHECK (estimated_complexity BETWEEN 1 AND 100) NOT VALID,
  ADD CONSTRAINT agent_tasks_estimate_is_positive CHECK (estimated_tokens >= 0) NOT VALID,
  ADD CONSTRAINT agent_tasks_estimate_has_source
    CHECK (estimate_source IN ('given', 'complexity', 'history', 'default')) NOT VALID;

ALTER TABLE task_runs
  -- The budgets that it holds something of, and how much of each while it lives.
  ADD COLUMN budget_ids uuid[] NOT NULL DEFAULT '{}',
  ADD COLUMN held_tokens bigint NOT NULL DEFAULT 0,
  -- Its task's when it was handed out; NULL without budgets. Reports compare it with what was used.
  ADD COLUMN estimated_tokens bigint,
  ADD COLUMN used_tokens bigint NOT NULL DEFAULT 0,
  ADD COLUMN used_cost_usd numeric(24, 12) NOT NULL DEFAULT 0,
  ADD CONSTRAINT task_runs_usage_is_positive
    CHECK (held_tokens >= 0 AND used_tokens >= 0 AND used_cost_usd >= 0) NOT VALID;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['usage_budgets', 'agent_usage_logs'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE ON usage_budgets TO drover_app, drover_service;
GRANT SELECT, INSERT ON agent_usage_logs TO drover_app, drover_service;
