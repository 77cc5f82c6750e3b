-- The MCP servers of a project for its coding agents. Each value of their variables and headers is "[redacted]".
-- Servers of the version before leave them as they are.
ALTER TABLE projects ADD COLUMN mcp_servers jsonb NOT NULL DEFAULT '[]'
  CONSTRAINT projects_mcp_servers_check CHECK (jsonb_typeof(mcp_servers) = 'array');

-- The sealed originals of a project's columns, as task_secrets has those of tasks.
CREATE TABLE project_secrets (
  workspace_id  uuid NOT NULL,
  project_id    uuid NOT NULL,
  column_name   text NOT NULL CHECK (column_name = 'mcp_servers'),
  key_id        uuid NOT NULL CONSTRAINT project_secrets_key_fkey REFERENCES data_keys (id) ON DELETE RESTRICT,
  sealed        jsonb NOT NULL,
  unreadable_at timestamptz,
  PRIMARY KEY (workspace_id, project_id, column_name),
  CONSTRAINT project_secrets_project_fkey FOREIGN KEY (workspace_id, project_id)
    REFERENCES projects (workspace_id, id) ON DELETE RESTRICT
);
CREATE INDEX project_secrets_key_idx ON project_secrets (key_id);

ALTER TABLE project_secrets ENABLE ROW LEVEL SECURITY;
ALTER TABLE project_secrets FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON project_secrets FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON project_secrets FOR ALL TO drover_service USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, DELETE, UPDATE (key_id, sealed, unreadable_at) ON project_secrets TO drover_app;
GRANT SELECT, DELETE, UPDATE (key_id, sealed, unreadable_at) ON project_secrets TO drover_service;
