-- The tasks of one workspace that wait for their retry, for its view in Valkey. The index of due retries has them in the
-- order of all workspaces. Both have only such tasks, so few writes pay for them.
CREATE INDEX agent_tasks_retries_idx ON agent_tasks (workspace_id, retry_at, id)
  WHERE status = 'ABORTED' AND retry_at IS NOT NULL;
