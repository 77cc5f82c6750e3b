-- Who has changed what, and who was refused: one row for each request of a user or an API key that the journal does not keep.
CREATE TABLE audit_log (
  workspace_id uuid NOT NULL,
  -- Has the time of the request in it, by the database's clock, in milliseconds.
  id           uuid NOT NULL DEFAULT uuidv7(),
  actor_kind   text NOT NULL CHECK (actor_kind IN ('user', 'api_key')),
  actor_id     uuid NOT NULL,
  -- The e-mail address of the user or the name of the key as it was; a reference would show today's.
  actor_name   text,
  -- The operationId of the OpenAPI document.
  operation    text NOT NULL,
  path         text NOT NULL,
  status       smallint NOT NULL,
  request_id   text NOT NULL,
  address      text NOT NULL,
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT audit_log_workspace_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces (id) ON DELETE RESTRICT,
  CONSTRAINT audit_log_status_is_kept CHECK (status BETWEEN 200 AND 299 OR status = 403)
);
CREATE INDEX audit_log_actor_idx ON audit_log (workspace_id, actor_id, id);
CREATE INDEX audit_log_operation_idx ON audit_log (workspace_id, operation, id);
-- For pruning, over all workspaces.
CREATE INDEX audit_log_id_idx ON audit_log (id);

ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_log FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON audit_log FOR ALL TO drover_service USING (true) WITH CHECK (true);

-- The role that serves requests reads it only; nobody changes a row.
GRANT SELECT ON audit_log TO drover_app;
GRANT SELECT, INSERT, DELETE ON audit_log TO drover_service;
