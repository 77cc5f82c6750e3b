-- Headers that the hosts of sessions add to requests to one host. Their values are sealed.
CREATE TABLE host_credentials (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id           uuid NOT NULL,
  host         text NOT NULL CHECK (host <> ''),
  -- Only the tasks of this project use it. NULL: all tasks without one of their project.
  project_id   uuid,
  scheme       text NOT NULL CHECK (scheme IN ('https', 'http')),
  header       text NOT NULL CHECK (header <> ''),
  created_by   uuid NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT host_credentials_project_fkey FOREIGN KEY (workspace_id, project_id)
    REFERENCES projects (workspace_id, id) ON DELETE RESTRICT
);
CREATE UNIQUE INDEX host_credentials_scope_key ON host_credentials (workspace_id, host, project_id) NULLS NOT DISTINCT;

CREATE TABLE host_credential_secrets (
  workspace_id  uuid NOT NULL,
  credential_id uuid NOT NULL,
  column_name   text NOT NULL CHECK (column_name = 'secret'),
  key_id        uuid NOT NULL CONSTRAINT host_credential_secrets_key_fkey REFERENCES data_keys (id) ON DELETE RESTRICT,
  sealed        jsonb NOT NULL,
  unreadable_at timestamptz,
  -- As for other secrets of one value; credentials have no end.
  expires_at    timestamptz CHECK (expires_at IS NULL),
  PRIMARY KEY (workspace_id, credential_id, column_name),
  CONSTRAINT host_credential_secrets_credential_fkey FOREIGN KEY (workspace_id, credential_id)
    REFERENCES host_credentials (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX host_credential_secrets_key_idx ON host_credential_secrets (key_id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['host_credentials', 'host_credential_secrets'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE (scheme, header, created_by, updated_at), DELETE ON host_credentials TO drover_app;
GRANT SELECT ON host_credentials TO drover_service;
GRANT SELECT, INSERT, UPDATE (key_id, sealed, unreadable_at, expires_at) ON host_credential_secrets TO drover_app;
GRANT SELECT, UPDATE (key_id, sealed, unreadable_at) ON host_credential_secrets TO drover_service;
