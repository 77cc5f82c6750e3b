-- The failures of the last hour (task_throughput).
CREATE INDEX agent_tasks_failed_idx ON agent_tasks (workspace_id, failed_at)
  WHERE failed_at IS NOT NULL;
