-- The template of a workspace for the prompts of its coding agents. Without a row: that of Drover.
CREATE TABLE prompt_templates (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces (id) ON DELETE RESTRICT,
  template     text NOT NULL CHECK (length(template) BETWEEN 1 AND 20000),
  updated_at   timestamptz NOT NULL DEFAULT now()
);

-- The prompts that runs received, without secrets.
CREATE TABLE run_prompts (
  workspace_id uuid NOT NULL,
  run_id       uuid NOT NULL,
  prompt       text NOT NULL CHECK (length(prompt) BETWEEN 1 AND 400000),
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, run_id),
  CONSTRAINT run_prompts_run_fkey FOREIGN KEY (workspace_id, run_id)
    REFERENCES task_runs (workspace_id, id) ON DELETE RESTRICT
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['prompt_templates', 'run_prompts'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE (template, updated_at), DELETE ON prompt_templates TO drover_app;
GRANT SELECT ON prompt_templates TO drover_service;
GRANT SELECT, INSERT, UPDATE (prompt, created_at) ON run_prompts TO drover_app;
GRANT SELECT ON run_prompts TO drover_service;
