-- Secrets in tasks are sealed: the keys that seal them, and which tasks hold values under which key.

-- Each is wrapped by a master key, which is in the environment of the servers and never here.
CREATE TABLE data_keys (
  id            uuid PRIMARY KEY,
  master_key_id text,
  wrapped       bytea,
  created_at    timestamptz NOT NULL DEFAULT now(),
  -- From then on it opens values, and seals none.
  retired_at    timestamptz,
  -- The key with the id of zeros is no key: values from before there was any sealing.
  CONSTRAINT data_keys_is_wrapped CHECK (
    CASE WHEN id = '00000000-0000-0000-0000-000000000000'
      THEN master_key_id IS NULL AND wrapped IS NULL AND retired_at IS NOT NULL
      ELSE master_key_id IS NOT NULL AND wrapped IS NOT NULL END)
);

-- A task that may hold values under a key: the key can't go while it does, and re-sealing finds it.
CREATE TABLE task_seals (
  workspace_id  uuid NOT NULL,
  task_id       uuid NOT NULL,
  key_id        uuid NOT NULL CONSTRAINT task_seals_key_fkey REFERENCES data_keys (id) ON DELETE RESTRICT,
  -- A value of it could not be opened when it was to be sealed anew.
  unreadable_at timestamptz,
  PRIMARY KEY (workspace_id, task_id, key_id),
  CONSTRAINT task_seals_task_fkey FOREIGN KEY (workspace_id, task_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT
);
CREATE INDEX task_seals_key_idx ON task_seals (key_id);

-- What is there already is looked through by the re-sealing.
ALTER TABLE agent_tasks NO FORCE ROW LEVEL SECURITY;
INSERT INTO data_keys (id, retired_at)
  SELECT '00000000-0000-0000-0000-000000000000', now() WHERE EXISTS (SELECT FROM agent_tasks);
INSERT INTO task_seals (workspace_id, task_id, key_id)
  SELECT workspace_id, id, '00000000-0000-0000-0000-000000000000' FROM agent_tasks
  WHERE input_context <> '{}' OR checkpoint_data <> '{}' OR metadata <> '{}' OR output_result IS NOT NULL;
ALTER TABLE agent_tasks FORCE ROW LEVEL SECURITY;

ALTER TABLE task_seals ENABLE ROW LEVEL SECURITY;
ALTER TABLE task_seals FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON task_seals FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON task_seals FOR ALL TO drover_service USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON task_seals TO drover_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON data_keys, task_seals TO drover_service;
