-- The finished task whose conversation a task continues.
ALTER TABLE agent_tasks ADD COLUMN continues_id uuid,
  ADD CONSTRAINT agent_tasks_continues_fkey FOREIGN KEY (workspace_id, continues_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT NOT VALID;
