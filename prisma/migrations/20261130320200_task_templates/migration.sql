-- Named templates of a workspace for tasks.
CREATE TABLE task_templates (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id           uuid NOT NULL,
  name         text NOT NULL CHECK (name <> ''),
  description  text,
  -- The body of POST /agent-tasks, whose title can be absent. It has "[redacted]" in place of secrets.
  task         jsonb NOT NULL CONSTRAINT task_templates_task_is_an_object CHECK (jsonb_typeof(task) = 'object'),
  created_by   uuid NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  version      integer NOT NULL DEFAULT 1,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX task_templates_name_key ON task_templates (workspace_id, name);

-- The sealed originals of their tasks, as task_secrets has those of tasks.
CREATE TABLE task_template_secrets (
  workspace_id  uuid NOT NULL,
  template_id   uuid NOT NULL,
  column_name   text NOT NULL CHECK (column_name = 'task'),
  key_id        uuid NOT NULL CONSTRAINT task_template_secrets_key_fkey REFERENCES data_keys (id) ON DELETE RESTRICT,
  sealed        jsonb NOT NULL,
  unreadable_at timestamptz,
  PRIMARY KEY (workspace_id, template_id, column_name),
  CONSTRAINT task_template_secrets_template_fkey FOREIGN KEY (workspace_id, template_id)
    REFERENCES task_templates (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX task_template_secrets_key_idx ON task_template_secrets (key_id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['task_templates', 'task_template_secrets'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT, DELETE, UPDATE (name, description, task, version, updated_at) ON task_templates TO drover_app;
GRANT SELECT ON task_templates TO drover_service;
GRANT SELECT, INSERT, DELETE, UPDATE (key_id, sealed, unreadable_at) ON task_template_secrets TO drover_app;
GRANT SELECT, UPDATE (key_id, sealed, unreadable_at) ON task_template_secrets TO drover_service;
