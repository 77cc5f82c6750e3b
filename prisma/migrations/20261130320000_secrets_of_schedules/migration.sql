-- The sealed originals of the tasks of schedules, as task_secrets has those of tasks. `schedules.tasks` has
-- "[redacted]" in their place.
CREATE TABLE schedule_secrets (
  workspace_id  uuid NOT NULL,
  schedule_id   uuid NOT NULL,
  column_name   text NOT NULL CHECK (column_name = 'tasks'),
  key_id        uuid NOT NULL CONSTRAINT schedule_secrets_key_fkey REFERENCES data_keys (id) ON DELETE RESTRICT,
  sealed        jsonb NOT NULL,
  unreadable_at timestamptz,
  PRIMARY KEY (workspace_id, schedule_id, column_name),
  CONSTRAINT schedule_secrets_schedule_fkey FOREIGN KEY (workspace_id, schedule_id)
    REFERENCES schedules (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX schedule_secrets_key_idx ON schedule_secrets (key_id);

ALTER TABLE schedule_secrets ENABLE ROW LEVEL SECURITY;
ALTER TABLE schedule_secrets FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON schedule_secrets FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON schedule_secrets FOR ALL TO drover_service USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, DELETE, UPDATE (key_id, sealed, unreadable_at) ON schedule_secrets TO drover_app;
GRANT SELECT, UPDATE (key_id, sealed, unreadable_at) ON schedule_secrets TO drover_service;
