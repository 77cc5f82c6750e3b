-- Files that runs keep. Their content is in a store beside the database, under the id of the row.

-- The sum of the sizes, which uploads lock.
CREATE TABLE artifact_usage (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  bytes        bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  PRIMARY KEY (workspace_id)
);

CREATE TABLE artifacts (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id           uuid NOT NULL,
  -- Task and run have no foreign key, which each of their updates would pay for.
  task_id      uuid NOT NULL,
  run_id       uuid NOT NULL,
  -- A relative path, such as report/index.html.
  name         text NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 500),
  media_type   text NOT NULL CHECK (octet_length(media_type) BETWEEN 3 AND 200),
  size_bytes   bigint NOT NULL CHECK (size_bytes >= 0),
  sha256       text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX artifacts_name_key ON artifacts (workspace_id, run_id, name);
CREATE INDEX artifacts_task_idx ON artifacts (workspace_id, task_id, id);
CREATE INDEX artifacts_created_idx ON artifacts (created_at);
-- For the search for files without a row, which is not of one workspace.
CREATE INDEX artifacts_id_idx ON artifacts (id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['artifacts', 'artifact_usage'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE (id, media_type, size_bytes, sha256, created_at), DELETE ON artifacts TO drover_app;
GRANT SELECT, DELETE ON artifacts TO drover_service;
GRANT SELECT, INSERT, UPDATE (bytes) ON artifact_usage TO drover_app;
GRANT SELECT, UPDATE (bytes) ON artifact_usage TO drover_service;
