-- What tasks of a kind really used, from which the estimates of new ones are made; and which workspaces and projects are
-- slowed down because their budgets would not last.

-- A kind: the tasks of a type, of one project or of all. Made again from the tasks that have completed.
CREATE TABLE estimate_calibrations (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  -- NULL: all tasks of the type, whatever their project.
  project_id   uuid,
  scope_id     uuid NOT NULL GENERATED ALWAYS AS (coalesce(project_id, workspace_id)) STORED,
  task_type    task_kind NOT NULL,
  -- By which the formula has to be multiplied; NULL: too few of these tasks have a complexity.
  factor       numeric(6, 4) CHECK (factor BETWEEN 0.1 AND 10),
  median_used  bigint NOT NULL CHECK (median_used > 0),
  -- Tasks that it is drawn from.
  samples      integer NOT NULL CHECK (samples > 0),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, scope_id, task_type),
  CONSTRAINT estimate_calibrations_project_fkey FOREIGN KEY (workspace_id, project_id)
    REFERENCES projects (workspace_id, id) ON DELETE RESTRICT
);

-- How many runs a workspace, or a project of it, may have at once while its budget would not last. No row: no such limit.
CREATE TABLE workspace_throttles (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  -- NULL: the whole workspace.
  project_id   uuid,
  scope_id     uuid NOT NULL GENERATED ALWAYS AS (coalesce(project_id, workspace_id)) STORED,
  budget_id    uuid NOT NULL,
  max_runs     integer NOT NULL CHECK (max_runs >= 1),
  -- The recommendation of the budget's projection.
  reason       text NOT NULL CHECK (reason IN ('THROTTLE', 'PAUSE')),
  since        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, scope_id),
  CONSTRAINT workspace_throttles_budget_fkey FOREIGN KEY (workspace_id, budget_id)
    REFERENCES usage_budgets (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT workspace_throttles_project_fkey FOREIGN KEY (workspace_id, project_id)
    REFERENCES projects (workspace_id, id) ON DELETE RESTRICT
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['estimate_calibrations', 'workspace_throttles'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT ON estimate_calibrations, workspace_throttles TO drover_app;
GRANT SELECT, INSERT, UPDATE ON estimate_calibrations TO drover_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON workspace_throttles TO drover_service;
