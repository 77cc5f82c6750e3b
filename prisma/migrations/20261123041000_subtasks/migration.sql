-- Tasks that a run has created for its own. All that there are have no parent: looking through them under the table's lock
-- would find nothing.
ALTER TABLE agent_tasks ADD COLUMN parent_task_id uuid,
  ADD CONSTRAINT agent_tasks_parent_fkey FOREIGN KEY (workspace_id, parent_task_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT NOT VALID;
-- Most tasks have no parent, and no place in it.
CREATE INDEX agent_tasks_parent_idx ON agent_tasks (workspace_id, parent_task_id, id) WHERE parent_task_id IS NOT NULL;
