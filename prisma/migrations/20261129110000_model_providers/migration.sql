-- The ways of a workspace, or of one of its projects, to the providers of models. Their keys are sealed.
CREATE TABLE model_providers (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id           uuid NOT NULL,
  provider     text NOT NULL CHECK (provider IN ('anthropic', 'openai', 'gemini')),
  -- Only the tasks of this project use it. NULL: all tasks without one of their project.
  project_id   uuid,
  base_url     text NOT NULL CHECK (base_url <> ''),
  created_by   uuid NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT model_providers_project_fkey FOREIGN KEY (workspace_id, project_id)
    REFERENCES projects (workspace_id, id) ON DELETE RESTRICT
);
CREATE UNIQUE INDEX model_providers_scope_key ON model_providers (workspace_id, provider, project_id) NULLS NOT DISTINCT;

CREATE TABLE model_provider_secrets (
  workspace_id  uuid NOT NULL,
  provider_id   uuid NOT NULL,
  column_name   text NOT NULL CHECK (column_name = 'secret'),
  key_id        uuid NOT NULL CONSTRAINT model_provider_secrets_key_fkey REFERENCES data_keys (id) ON DELETE RESTRICT,
  sealed        jsonb NOT NULL,
  unreadable_at timestamptz,
  -- As for other secrets of one value; keys of providers have no end.
  expires_at    timestamptz CHECK (expires_at IS NULL),
  PRIMARY KEY (workspace_id, provider_id, column_name),
  CONSTRAINT model_provider_secrets_provider_fkey FOREIGN KEY (workspace_id, provider_id)
    REFERENCES model_providers (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX model_provider_secrets_key_idx ON model_provider_secrets (key_id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['model_providers', 'model_provider_secrets'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE (base_url, created_by, updated_at), DELETE ON model_providers TO drover_app;
GRANT SELECT ON model_providers TO drover_service;
GRANT SELECT, INSERT, UPDATE (key_id, sealed, unreadable_at, expires_at) ON model_provider_secrets TO drover_app;
GRANT SELECT, UPDATE (key_id, sealed, unreadable_at) ON model_provider_secrets TO drover_service;
