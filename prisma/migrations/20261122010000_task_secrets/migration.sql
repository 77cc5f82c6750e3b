-- A task's columns hold what everybody may see; the sealed originals of those that hold secrets have a table.

CREATE TABLE task_secrets (
  workspace_id  uuid NOT NULL,
  task_id       uuid NOT NULL,
  column_name   text NOT NULL
    CHECK (column_name IN ('input_context', 'checkpoint_data', 'output_result', 'metadata')),
  -- The key cannot go while anything is sealed with it.
  key_id        uuid NOT NULL CONSTRAINT task_secrets_key_fkey REFERENCES data_keys (id) ON DELETE RESTRICT,
  -- What was written to the column, each secret in it sealed where it stands. Under the key with the id of zeros it is in
  -- clear: it is from before there was any sealing, and has yet to be searched.
  sealed        jsonb NOT NULL,
  -- It could not be opened when it was to be sealed anew.
  unreadable_at timestamptz,
  PRIMARY KEY (workspace_id, task_id, column_name),
  CONSTRAINT task_secrets_task_fkey FOREIGN KEY (workspace_id, task_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT
);
CREATE INDEX task_secrets_key_idx ON task_secrets (key_id);

-- ---------------------------------------------------------------------------------------------
-- What is sealed in the columns moves over
-- ---------------------------------------------------------------------------------------------

-- What everybody may see of a document. A sealed text is drover-sealed:1:<key>:<payload>:<shown>, so that what is shown stays
-- when the rest goes; of a damaged one nothing is shown. A quote behind a backslash is inside of a text.
CREATE FUNCTION pg_temp.shown(document jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT regexp_replace(
    regexp_replace(document::text, '(?<!\\)"drover-sealed:1:[A-Za-z0-9_-]{1,64}:[A-Za-z0-9_-]+:(?!")', '"', 'g'),
    '(?<!\\)"drover-sealed:1:(?:[^"\\]|\\.)*"', '"[redacted]"', 'g')::jsonb
$$;

ALTER TABLE agent_tasks NO FORCE ROW LEVEL SECURITY;
ALTER TABLE task_seals NO FORCE ROW LEVEL SECURITY;

CREATE TEMPORARY TABLE moving ON COMMIT DROP AS
SELECT t.workspace_id, t.id AS task_id, c.column_name, c.document,
  c.document::text ~ '(?<!\\)"drover-sealed:1:' AS is_sealed,
  (regexp_match(c.document::text,
    '(?<!\\)"drover-sealed:1:([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}):'))[1]::uuid AS key_id
FROM agent_tasks t CROSS JOIN LATERAL (VALUES
  ('input_context', t.input_context), ('checkpoint_data', t.checkpoint_data), ('output_result', t.output_result),
  ('metadata', t.metadata)) AS c (column_name, document)
WHERE EXISTS (SELECT FROM task_seals s WHERE s.workspace_id = t.workspace_id AND s.task_id = t.id)
  AND c.document NOT IN ('{}', 'null');

-- Not yet searched for secrets, so nothing of it may be seen.
DELETE FROM moving m WHERE NOT m.is_sealed AND NOT EXISTS (
  SELECT FROM task_seals s WHERE s.workspace_id = m.workspace_id AND s.task_id = m.task_id
    AND s.key_id = '00000000-0000-0000-0000-000000000000');

-- Damaged values name no key that there is; they are kept as what does not open.
INSERT INTO data_keys (id, retired_at)
SELECT '00000000-0000-0000-0000-000000000000', now()
WHERE EXISTS (SELECT FROM moving m WHERE NOT EXISTS (SELECT FROM data_keys k WHERE k.id = m.key_id))
ON CONFLICT DO NOTHING;

INSERT INTO task_secrets (workspace_id, task_id, column_name, key_id, sealed, unreadable_at)
SELECT m.workspace_id, m.task_id, m.column_name, coalesce(k.id, '00000000-0000-0000-0000-000000000000'), m.document,
  CASE WHEN m.is_sealed AND k.id IS NULL THEN now() ELSE s.unreadable_at END
FROM moving m
LEFT JOIN data_keys k ON k.id = m.key_id
LEFT JOIN task_seals s ON s.workspace_id = m.workspace_id AND s.task_id = m.task_id AND s.key_id = k.id;

UPDATE agent_tasks t SET
  input_context = coalesce(s.shown -> 'input_context', t.input_context),
  checkpoint_data = coalesce(s.shown -> 'checkpoint_data', t.checkpoint_data),
  output_result = coalesce(s.shown -> 'output_result', t.output_result),
  metadata = coalesce(s.shown -> 'metadata', t.metadata)
FROM (
  SELECT workspace_id, task_id, jsonb_object_agg(column_name,
    CASE WHEN is_sealed THEN pg_temp.shown(document) ELSE '{"redacted": "[redacted]"}' END) AS shown
  FROM moving GROUP BY 1, 2) s
WHERE t.workspace_id = s.workspace_id AND t.id = s.task_id;

DROP FUNCTION pg_temp.shown(jsonb);
DROP TABLE task_seals;
ALTER TABLE agent_tasks FORCE ROW LEVEL SECURITY;

ALTER TABLE task_secrets ENABLE ROW LEVEL SECURITY;
ALTER TABLE task_secrets FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON task_secrets FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON task_secrets FOR ALL TO drover_service USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, DELETE, UPDATE (key_id, sealed, unreadable_at) ON task_secrets TO drover_app;
GRANT SELECT, DELETE, UPDATE (key_id, sealed, unreadable_at) ON task_secrets TO drover_service;
