-- Secrets that are named as such: the environment of what executes a task, or of an agent's command. The column shows
-- their names, each with "[redacted]".
ALTER TABLE agent_tasks ADD COLUMN secrets jsonb NOT NULL DEFAULT '{}';
ALTER TABLE agents ADD COLUMN secrets jsonb NOT NULL DEFAULT '{}';

-- Titles and descriptions are written by people, who put credentials into them as well.
ALTER TABLE task_secrets DROP CONSTRAINT task_secrets_column_name_check;
ALTER TABLE task_secrets ADD CONSTRAINT task_secrets_column_name_check CHECK (column_name IN
  ('title', 'description', 'input_context', 'checkpoint_data', 'output_result', 'metadata', 'secrets'));

-- The sealed originals of an agent's columns, as task_secrets has those of tasks.
CREATE TABLE agent_secrets (
  workspace_id  uuid NOT NULL,
  agent_id      uuid NOT NULL,
  column_name   text NOT NULL CHECK (column_name IN ('command', 'secrets')),
  key_id        uuid NOT NULL CONSTRAINT agent_secrets_key_fkey REFERENCES data_keys (id) ON DELETE RESTRICT,
  sealed        jsonb NOT NULL,
  unreadable_at timestamptz,
  PRIMARY KEY (workspace_id, agent_id, column_name),
  CONSTRAINT agent_secrets_agent_fkey FOREIGN KEY (workspace_id, agent_id)
    REFERENCES agents (workspace_id, id) ON DELETE RESTRICT
);
CREATE INDEX agent_secrets_key_idx ON agent_secrets (key_id);

ALTER TABLE agent_secrets ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_secrets FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON agent_secrets FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON agent_secrets FOR ALL TO drover_service USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, DELETE, UPDATE (key_id, sealed, unreadable_at) ON agent_secrets TO drover_app;
GRANT SELECT, DELETE, UPDATE (key_id, sealed, unreadable_at) ON agent_secrets TO drover_service;
