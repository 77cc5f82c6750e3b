-- Files that people attach to tasks and messages are artifacts of no run. Their `task_id` is the id by which a task or a
-- message names them. Servers of the version before neither list nor serve them.
ALTER TABLE artifacts
  ALTER COLUMN run_id DROP NOT NULL,
  DROP CONSTRAINT artifacts_kind_check,
  ADD CONSTRAINT artifacts_kind_check CHECK (kind IN ('file', 'agent_state', 'attachment')),
  ADD CONSTRAINT artifacts_run_check CHECK ((kind = 'attachment') = (run_id IS NULL));
CREATE UNIQUE INDEX artifacts_attachment_key ON artifacts (workspace_id, task_id, name) WHERE kind = 'attachment';
