-- The latest completed tasks of a kind: what an estimate is drawn from.
CREATE INDEX agent_tasks_history_idx ON agent_tasks (workspace_id, task_type, completed_at)
  WHERE completed_at IS NOT NULL;
