-- The saved state of a task's coding agent is an artifact that only hosts of its runs can read. A task has one.
ALTER TABLE artifacts
  ADD COLUMN kind text NOT NULL DEFAULT 'file' CONSTRAINT artifacts_kind_check CHECK (kind IN ('file', 'agent_state')),
  -- The data key that encrypts the content. It has no foreign key: a removed key costs the states that it encrypts,
  -- and keeps no other key alive.
  ADD COLUMN key_id uuid,
  ADD CONSTRAINT artifacts_key_check CHECK ((kind = 'agent_state') = (key_id IS NOT NULL));
CREATE UNIQUE INDEX artifacts_state_key ON artifacts (workspace_id, task_id) WHERE kind = 'agent_state';
GRANT UPDATE (run_id, key_id) ON artifacts TO drover_app;
